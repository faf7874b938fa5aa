"""`lab app --processes N`: a lecture hall of readers, served by N processes behind nginx.

A process of Python uses about one core. Each reader belongs to one of them by a cookie, never by address,
since a class sits behind one router. What readers share (runs, their queue, locks, short links) are files,
and the password is in the environment, so it holds whichever process answers.
"""

import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from lab import files
from lab.errors import UserError
from lab.experiments import runs_folder

# Environment of the processes: the address that the proxy listens at; they themselves listen here alone.
PROXY_ADDRESS = "LECTERN_PROXY_ADDRESS"
NAMES = "LECTERN_NAMES"  # names by which readers come, through a proxy too: `lab app --host` adds to them
PIDS_FILE = "processes.json"  # in the folder of a proxy: who belongs to it
NGINX = "`lab app --processes` needs nginx before the processes: `apt install nginx` or `brew install nginx`."
START_LIMIT = 180.0  # seconds that a process may take until it answers
STOP_LIMIT = 10.0  # seconds that it may take to end

# What nginx is told; see https://nginx.org/en/docs/ for each word.
SETTINGS = """\
# Proxy of Lectern, before {count} processes. `lab app --processes {count}` writes this file at each start.

daemon off;
worker_processes 1;  # it turns pages over, it computes nothing
{user}pid {folder}/nginx.pid;
error_log stderr error;
events {{ worker_connections 8192; }}

http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    client_max_body_size 21m;  # the largest table, and what is around it

    # Large files of scripts and styles come once from a process, then from here, and smaller.
    proxy_cache_path {folder}/cache keys_zone=files:1m max_size=256m inactive=30d;
    gzip on;
    gzip_proxied any;
    gzip_comp_level 2;
    gzip_min_length 1024;
    gzip_types text/javascript application/javascript text/css application/json image/svg+xml;

    # Newcomers go to the processes in turn ...
    upstream any {{
{servers}
    }}
{upstreams}

    # ... and stay with the one that a cookie names: it holds their session, and what they have uploaded.
    map $cookie_lectern_process $lectern {{
        default any;
{chosen}
    }}
    map $upstream_addr $answered {{
        default "";
{answered}
    }}
    map "$cookie_lectern_process $answered" $news {{
        default "lectern_process=$answered; Path=/; HttpOnly; SameSite=Lax";
        "~ $" "";
{known}
    }}
    map $http_upgrade $kept_open {{
        default upgrade;
        "" "";
    }}

    server {{
{listen}
        proxy_http_version 1.1;
        proxy_set_header Host $http_host;  # what the reader typed: WebSockets and QR codes go by it
        proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;  # bounds are of those who ask
        proxy_set_header Upgrade $http_upgrade;
        proxy_set_header Connection $kept_open;
        proxy_read_timeout 1d;  # a WebSocket is silent while its reader thinks
        proxy_send_timeout 1d;

        location / {{
            proxy_pass http://$lectern;
            add_header Set-Cookie $news always;
        }}
        location ~ ^{base}/(static/|lectern/plotly-) {{
            proxy_pass http://any;
            proxy_cache files;
            proxy_cache_valid 200 1h;
            proxy_cache_lock on;
        }}
    }}
}}
"""


def settings(folder: Path, ports: Sequence[int], address: str, port: int, base: str = "") -> str:
    """nginx's settings.

    Args:
        folder: for its own files.
        ports: of the processes, on this machine.
        address, port: where readers come.
        base: the path below which the processes serve, "/lab".
    """
    numbered = list(enumerate(ports))

    def lines(*texts: str, indent: int) -> str:
        return "\n".join(" " * indent + text for text in texts)

    def upstream(number: int) -> str:
        others = [f"        server 127.0.0.1:{p} backup;" for n, p in numbered if n != number]
        own = f"        server 127.0.0.1:{ports[number]} fail_timeout=1s;"
        return "\n".join([f"    upstream process{number} {{", own, *others, "    }"])

    return SETTINGS.format(
        count=len(ports),
        folder=folder,
        base=re.escape(base),
        user="user root root;\n" if os.geteuid() == 0 else "",  # who started it reads and writes the folder
        servers=lines(*(f"server 127.0.0.1:{p} fail_timeout=1s;" for p in ports), indent=8),
        upstreams="\n".join(upstream(n) for n, _ in numbered),
        chosen=lines(*(f"{n} process{n};" for n, _ in numbered), indent=8),
        answered=lines(*(f'"~:{p}$" {n};' for n, p in numbered), indent=8),
        known=lines(*(f'"{n} {n}" "";' for n, _ in numbered), indent=8),
        listen=lines(*(f"listen {place};" for place in listen_addresses(address, port)), indent=8),
    )


def base_path(said: str) -> str:
    """The path of `--server.baseUrlPath`, as addresses have it: "/lab"; "" where it says nothing.

    Raises:
        UserError: it is no path of letters, digits, ".", "_", "~" and "-".
    """
    steps = said.strip("/").split("/") if said.strip("/") else []
    if not all(re.fullmatch(r"[\w.~-]+", step, re.ASCII) and step.strip(".") for step in steps):
        raise UserError(f"--server.baseUrlPath is a path such as hall/lectern, not {said[:60]!r}.")
    return "".join(f"/{step}" for step in steps)


def listen_addresses(address: str, port: int) -> list[str]:
    """Addresses at which nginx listens, as it spells them."""
    if address == "localhost":
        return [f"127.0.0.1:{port}", *([f"[::1]:{port}"] if can_bind("::1", port) else [])]
    bare = address.strip("[]")
    if ":" not in bare:
        return [f"{bare}:{port}"]
    return [f"[{bare}]:{port}" + (" ipv6only=off" if bare == "::" else "")]


def can_bind(address: str, port: int) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((address, port))
    except OSError:
        return False
    return True


class ServerPool:
    """N processes and the proxy before them; `serve` returns when they have ended."""

    def __init__(self, count: int, address: str, port: int, args: Sequence[str], base: str = "") -> None:
        """
        Args:
            args: options of streamlit for each process.
            base: the path below which all is served, "/lab".

        Raises:
            UserError: nginx is missing, or the port is taken.
        """
        self.nginx = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin:/usr/local/sbin")
        if self.nginx is None:
            raise UserError(NGINX)
        self.folder = runs_folder() / ".proxy" / str(port)
        self.folder.mkdir(parents=True, exist_ok=True)
        end_leftovers(self.folder / PIDS_FILE)
        if not can_bind("127.0.0.1" if address == "localhost" else address.strip("[]"), port):
            raise UserError(f"Port {port} at {address} is taken, or not ours: choose another --server.port.")
        self.address, self.port, self.args, self.base = address, port, list(args), base
        self.ports = free_ports(count)
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        self.nginx_process: subprocess.Popen[bytes] | None = None
        self.ended = False
        self.secret = secrets.token_hex(32)  # one for all: what one process signs, another knows

    def serve(self, page: str = "") -> None:
        """Start all, watch over them, and end all together.

        Args:
            page: the address that is told ends with it.
        """
        signal.signal(signal.SIGTERM, self.end)
        try:
            for number in range(len(self.ports)):
                self.start(number)
            for number in range(len(self.ports)):
                self.wait_for(number)
            self.start_nginx(page)
            while True:
                self.watch()
                time.sleep(0.5)
        finally:
            self.stop()

    def end(self, *_: object) -> None:
        """Told to end: `watch` does so, between two starts, so that no process is left that nobody knows."""
        self.ended = True

    def start(self, number: int) -> None:
        threads = max(1, (os.cpu_count() or 1) // len(self.ports))
        self.processes[number] = subprocess.Popen(
            [
                *(sys.executable, "-m", "lab", "app", *self.args),
                *("--server.address", "127.0.0.1", "--server.port", str(self.ports[number])),
                *("--server.headless", "true", "--logger.hideWelcomeMessage", "true"),
                *(("--server.baseUrlPath", self.base) if self.base else ()),
            ],
            env={
                "OMP_NUM_THREADS": str(threads),
                **os.environ,
                PROXY_ADDRESS: self.address,
                "LECTERN_RUNS": str(runs_folder()),
                "STREAMLIT_SERVER_COOKIE_SECRET": self.secret,
            },
            stdout=None if number == 0 else subprocess.DEVNULL,  # all would say the same
        )
        self.write_pids()

    def write_pids(self) -> None:
        """Write down who belongs to this pool: the next one ends whoever is left of it."""
        everyone = [p.pid for p in (self.nginx_process, *self.processes.values()) if p is not None]
        known = {"parent": process_stamp(os.getpid()), "others": [process_stamp(pid) for pid in everyone]}
        files.write(self.folder / PIDS_FILE, json.dumps(known).encode())

    def wait_for(self, number: int) -> None:
        """
        Raises:
            UserError: the process has ended, or does not answer within `START_LIMIT`.
        """
        end = time.monotonic() + START_LIMIT
        while not is_healthy(self.ports[number], base=self.base):
            if self.processes[number].poll() is not None or time.monotonic() > end:
                raise UserError(
                    f"Process {number} of {len(self.ports)} did not start; its sentences stand above."
                )
            self.exit_if_ended()
            time.sleep(0.2)

    def start_nginx(self, page: str) -> None:
        path = self.folder / "nginx.conf"
        text = settings(self.folder, self.ports, self.address, self.port, self.base)
        path.write_text(text, encoding="utf-8")
        self.nginx_process = subprocess.Popen(
            [str(self.nginx), "-e", "stderr", "-p", str(self.folder), "-c", str(path)]
        )
        self.write_pids()
        shown = "localhost" if self.address in ("0.0.0.0", "::", "localhost") else self.address
        while not is_healthy(self.port, "127.0.0.1" if shown == "localhost" else shown, self.base):
            self.watch()
            time.sleep(0.1)
        print(
            f"Lectern is served by {len(self.ports)} processes at "
            f"http://{shown}:{self.port}{self.base}/{page}",
            flush=True,
        )
        print(f"nginx stands before them, as {path} says.", flush=True)

    def exit_if_ended(self) -> None:
        if self.ended:
            sys.exit(0)

    def watch(self) -> None:
        """A process that has ended begins again; without nginx all end.

        Raises:
            UserError: nginx has ended.
            SystemExit: `end` was called.
        """
        self.exit_if_ended()
        if self.nginx_process and self.nginx_process.poll() is not None:
            raise UserError("nginx has ended; what it said stands above.")
        for number, process in self.processes.items():
            if process.poll() is not None:
                print(f"Process {number} has ended ({process.returncode}): it begins again.", flush=True)
                self.start(number)

    def stop(self) -> None:
        everyone = [p for p in (self.nginx_process, *self.processes.values()) if p is not None]
        for process in everyone:
            process.terminate()
        end = time.monotonic() + STOP_LIMIT
        for process in everyone:
            try:
                process.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        (self.folder / PIDS_FILE).unlink(missing_ok=True)


def process_stamp(pid: int) -> tuple[int, float]:
    """A process as it is known again: its number, and when it began, since numbers are used anew."""
    try:
        return pid, psutil.Process(pid).create_time()
    except psutil.Error:
        return pid, 0.0


def live_process(known: Any) -> psutil.Process | None:
    """The process with this stamp, if it lives."""
    try:
        pid, created = known
        process = psutil.Process(pid)
        alive = process.create_time() == created and process.status() != psutil.STATUS_ZOMBIE
    except (TypeError, ValueError, OverflowError, psutil.Error):
        return None
    return process if alive else None


def end_leftovers(path: Path) -> None:
    """End what a pool has left that was killed before it could end nginx and its processes itself.

    Args:
        path: where that pool wrote them down; one that lives is left alone.
    """
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
        parent, others = known["parent"], list(known["others"])
    except (OSError, ValueError, KeyError, TypeError):
        return
    if live_process(parent) is not None:
        return
    left = [process for other in others if (process := live_process(other)) is not None]
    if left:
        print(f"Ending {len(left)} processes that were left when the last server was killed.", flush=True)
    for process in left:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    for process in psutil.wait_procs(left, STOP_LIMIT)[1]:
        with suppress(psutil.NoSuchProcess):
            process.kill()
    psutil.wait_procs(left, STOP_LIMIT)
    path.unlink(missing_ok=True)


def free_ports(count: int) -> list[int]:
    """Ports on this machine that nobody listens at now."""
    probes = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [probe.getsockname()[1] for probe in probes]
    for probe in probes:
        probe.close()
    return ports


def is_healthy(port: int, host: str = "127.0.0.1", base: str = "") -> bool:
    try:
        with urllib.request.urlopen(f"http://{host}:{port}{base}/_stcore/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False
