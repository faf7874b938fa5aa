"""The commands behind `lab`, one function each; arguments in, exit code out."""

import argparse
import json
import math
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

from lab.errors import UserError
from lab.experiments import find, listed, runs_folder
from lab.parser import Parser
from lab.results import test_metrics
from lab.shadowed import other_app


def list_(args: list[str]) -> None:
    parser = Parser(prog="lab list", description="All experiments, their weights and results.")
    parser.add_argument("--json", action="store_true", help="a list of objects")
    rows = [e.summary() for e in listed().values()] if (options := parser.parse_args(args)) else []
    if options.json:
        for row in rows:  # strict JSON knows no infinity, which a model's nll may be
            row["metrics"] = {k: v if math.isfinite(v) else None for k, v in row["metrics"].items()}
        print(json.dumps(rows, indent=2))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table(
        "experiment", "family", "model", "data", "weights", "parameters", "test", "minutes", box=None
    )
    for row in rows:
        table.add_row(
            row["name"],
            row["family"],
            row["module"].rpartition(".")[2],
            row["datamodule"].rpartition(".")[2] + (" (embedded)" if row["embedded"] else ""),
            "yes" if row["weights"] else "–",
            f"{row['parameters']:,}" if row["parameters"] else "–",
            test_metrics(row["metrics"]) or "–",
            f"{row['minutes']:.1f}" if row["minutes"] is not None else "–",
        )
    Console(width=None if sys.stdout.isatty() else 150).print(table)


def train(command: str) -> Callable[[list[str]], None]:
    def run(args: list[str]) -> None:
        if args and args[0] in ("-h", "--help"):
            print(f"usage: lab {command} <experiment> [options]")
            print(f"`lab {command} made-digits --help` lists the options.")
            return
        if not args or args[0].startswith("-"):
            raise UserError(f"lab {command} needs an experiment: `lab list` shows all.")
        experiment = find(args[0])
        from lab.training.run import run as run_training

        run_training(command, experiment, args[1:])

    return run


def data(args: list[str]) -> None:
    parser = Parser(prog="lab data", description="Fetch a data set, or say where each one is.")
    parser.add_argument("name", nargs="?", help="fetch this one")
    options = parser.parse_args(args)
    from datamodules import fetch

    try:
        if options.name:
            fetch.fetch(options.name)
        rows = fetch.status()
    except (fetch.MissingData, ValueError, KeyError) as error:
        raise UserError(str(error)) from None
    for row in rows:
        print(f"{row['dataset']:<18} {'present' if row['present'] else 'not yet'}  {row['folder']}")


def sample(args: list[str]) -> None:
    from lab import sampling

    sampling.run(args)


def size(args: list[str]) -> None:
    from lab import sizes

    sizes.run(args)


APP_OPTIONS = """\
options of the server:
  --server.address ADDRESS      where it listens: localhost (default) answers this machine alone, 0.0.0.0
                                others too; Train and own files are then closed without LECTERN_PASSWORD
  --server.port PORT            8501 unless told
  --server.baseUrlPath PATH     serve below this path, as a proxy wants it: http://hall.example/PATH/
  --server.headless true        open no browser
  Others are those of Streamlit: https://docs.streamlit.io/develop/api-reference/configuration/config.toml

Readers are answered by names that are this dashboard's: localhost, and where it listens for others, the
machine's addresses and host name. Any other name, such as that of a proxy, is told by --host.
"""


def app(args: list[str], page: str = "") -> int:
    parser = Parser(
        prog="lab app",
        usage="lab app [--processes N] [--host NAME ...] [options of the server]",
        description="Open the dashboard.",
        epilog=APP_OPTIONS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument(
        "--processes", type=int, default=1, metavar="N",
        help="serve by N processes behind nginx, for a class: one a core",
    )  # fmt: skip
    parser.add_argument(
        "--host", action="append", default=[], metavar="NAME", type=host,
        help="a name by which readers come, through a proxy too; may be said several times",
    )  # fmt: skip
    options, args = parser.parse_known_args(args)
    if options.host:
        from lab.proxy import NAMES

        os.environ[NAMES] = ",".join([*filter(None, [os.environ.get(NAMES)]), *options.host])
    if options.processes != 1:
        return serve_processes(options.processes, args, page)
    if not (script := Path(__file__).parent.parent / "app.py").is_file():
        raise UserError(f"There is no {script}: install Lectern again.")
    if sentence := other_app(script):
        raise UserError(sentence)
    print("Opening Lectern …", flush=True)
    os.environ.setdefault("LECTERN_RUNS", str(runs_folder()))
    # Before torch is loaded: its threads sleep while they wait for each other. Those that spin take the cores
    # from the browser and from other readers: 600 steps of a small net took 37 s beside other work, now 1.2.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    os.chdir(Path(__file__).parent / "ui" / "server")  # its .streamlit holds the settings
    from lab.ui.server import serve

    return serve.run(args, page)


def host(name: str) -> str:
    """A name of `--host`, or an address."""
    if not re.fullmatch(r"[A-Za-z0-9._-]+|[0-9A-Fa-f:]+", name):
        raise argparse.ArgumentTypeError(
            f"{name[:60]!r} is no name of a host: say it alone, such as hall.example"
        )
    return name


def lecture(args: list[str]) -> int | None:
    from lab import lecture

    parser = Parser(prog="lab lecture", description="Open the dashboard at the first scene of a lecture.")
    parser.add_argument("name", nargs="?", help="of a lecture; without it they are listed")
    parser.add_argument("--pdf", type=Path, metavar="FILE", help="write its scenes and notes there instead")
    options, rest = parser.parse_known_args(args)
    if options.name is None:
        for name in lecture.names():
            known = lecture.read(name)
            print(f"{name:<24} {known.title}: {len(known.entries)} scenes, {known.minutes:g} minutes")
        return None
    read, pages = lecture.read(options.name), lecture.pages()
    for at, entry in enumerate(read.entries, 1):
        if entry.page not in pages:
            print(f"lab: {read.name}, scene {at}: there is no page {entry.page[:60]!r} now.", file=sys.stderr)
    if options.pdf is not None:
        from lab import handout

        print(f"{options.pdf}: {handout.export(options.name, options.pdf)} scenes")
        return None
    return app(rest, read.link(0))


def serve_processes(count: int, args: list[str], page: str) -> int:
    """The dashboard by `count` processes behind nginx; `args` are streamlit's options for each of them."""
    from lab.proxy import ServerPool, base_path

    parser = Parser(prog="lab app", add_help=False, allow_abbrev=False)
    parser.add_argument("--server.address", dest="address", default="localhost")
    parser.add_argument("--server.port", dest="port", type=int, default=8501)
    parser.add_argument(
        "--server.baseUrlPath", dest="base", default=os.environ.get("STREAMLIT_SERVER_BASE_URL_PATH", "")
    )
    options, args = parser.parse_known_args(args)
    if not 1 <= count <= 64:
        raise UserError(f"--processes runs from 1 to 64, not {count}: one a core is right.")
    ServerPool(count, options.address, options.port, args, base_path(options.base)).serve(page)
    return 0


def import_(args: list[str]) -> None:
    from lab import importing

    importing.run(args)


def results(args: list[str]) -> None:
    from lab import results as table

    Parser(prog="lab results", description="Rebuild the tables of results from the cards.").parse_args(args)
    table.rebuild()


def bench(args: list[str]) -> int | None:
    from lab import bench

    return bench.run(args)


COMMANDS: dict[str, Callable[[list[str]], int | None]] = {
    "fit": train("fit"),
    "validate": train("validate"),
    "test": train("test"),
    "predict": train("predict"),
    "list": list_,
    "import": import_,
    "sample": sample,
    "size": size,
    "app": app,
    "lecture": lecture,
    "data": data,
    "results": results,
    "bench": bench,
}
