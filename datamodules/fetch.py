"""Real data on disk: where it lies, whether it is whole, and how it is fetched on first use.

Data live in `$LECTERN_DATA` (default: the user's cache folder), in each library's own layout. A
file is downloaded to `<name>.part`, continued there after an interruption, checked, and only then
renamed: under its own name a file is always whole. This file imports neither torch nor numpy.
"""

import gzip
import hashlib
import os
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

CONNECT_SECONDS, READ_SECONDS = 5, 30  # patience with a silent server
ATTEMPTS = 4  # times one address may break off before the next is tried
CHUNK = 1 << 13  # bytes written at a time; a broken connection loses less than this


class MissingData(RuntimeError):
    """Data are not on disk and cannot be fetched; the message is one sentence that says what to do."""


@dataclass(frozen=True)
class File:
    """File of a data set.

    Args:
        path: relative to the root folder.
        urls: mirrors, tried in turn.
        checksum: `md5:...` or `sha256:...` of the content: where the file is a `.gz`, of what it
            unpacks to, because the same content is around in different gzip wrappers.
        size: bytes of that content; nothing beyond is downloaded, read or unpacked.
    """

    path: str
    urls: tuple[str, ...]
    checksum: str
    size: int

    @property
    def most(self) -> int:
        """Bytes that the file may have: content that cannot be packed grows a little in its wrapper."""
        return self.size + self.size // 1000 + 1024

    def unpack(self, path: Path, name: str) -> bytes:
        """The content, cut one byte beyond the size: a small file may unpack to any length."""
        with gzip.open(path) if name.endswith(".gz") else open(path, "rb") as file:
            return file.read(self.size + 1)

    def check(self, path: Path) -> bytes | None:
        """The content of `path`, or None where it is not what it should be."""
        algorithm, digest = self.checksum.split(":")
        try:
            content = self.unpack(path, self.path if path.suffix == ".part" else path.name)
        except (EOFError, gzip.BadGzipFile, zlib.error):
            return None
        whole = hashlib.new(algorithm, content, usedforsecurity=False).hexdigest() == digest
        return content if whole else None

    def locate(self) -> Path | None:
        """The file on disk, packed or unpacked; None where there is neither."""
        for path in (self.path, self.path.removesuffix(".gz")):
            if (root() / path).is_file():
                return root() / path
        return None


@dataclass(frozen=True)
class Source:
    """A data set: its files, and the embedded experiment to use where they cannot be had."""

    name: str
    files: tuple[File, ...]
    sister: str

    @property
    def folder(self) -> Path:
        return root() / Path(self.files[0].path).parent


# of both sets: names and bytes of the files, and the MD5 of what they unpack to, digits first, clothes second
IDX = {
    "train-images-idx3-ubyte.gz": (
        47_040_016, "6bbc9ace898e44ae57da46a324031adb", "f4a8712d7a061bf5bd6d2ca38dc4d50a"
    ),
    "train-labels-idx1-ubyte.gz": (
        60_008, "a25bea736e30d166cdddb491f175f624", "9018921c3c673c538a1fc5bad174d6f9"
    ),
    "t10k-images-idx3-ubyte.gz": (
        7_840_016, "2646ac647ad5339dbf082846283269ea", "8181f5470baa50b63fa0f6fddb340f0a"
    ),
    "t10k-labels-idx1-ubyte.gz": (
        10_008, "27ae3e4e09519cfbb04c329615203637", "15d484375f8d13e6eb1aabb0c3f46965"
    ),
}  # fmt: skip


def _mnist() -> tuple[File, ...]:
    homes = (
        "https://ossci-datasets.s3.amazonaws.com/mnist/",
        "https://storage.googleapis.com/cvdf-datasets/mnist/",
    )
    return tuple(
        File(f"MNIST/raw/{n}", tuple(h + n for h in homes), f"md5:{md5}", size)
        for n, (size, md5, _) in IDX.items()
    )


def _fashion() -> tuple[File, ...]:
    homes = (
        "http://fashion-mnist.s3-website.eu-central-1.amazonaws.com/",
        "https://storage.googleapis.com/tensorflow/tf-keras-datasets/",
    )
    return tuple(
        File(f"FashionMNIST/raw/{n}", tuple(h + n for h in homes), f"md5:{md5}", size)
        for n, (size, _, md5) in IDX.items()
    )


def _planetoid(name: str, sums: dict[str, tuple[int, str]]) -> tuple[File, ...]:
    homes = (
        "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data/",
        "https://cdn.jsdelivr.net/gh/kimiyoung/planetoid@master/data/",
    )
    files = []
    for part, (size, digest) in sums.items():
        file = f"ind.{name.lower()}.{part}"
        urls = tuple(home + file for home in homes)
        files.append(File(f"Planetoid/{name}/raw/{file}", urls, f"sha256:{digest}", size))
    return tuple(files)


MULTI30K = {  # of each part, by language: bytes and SHA-256
    "en": {
        "train": (1_801_238, "460a15fbd157e34a7a9957ee388c1ca247fe47af3ef25fb50442af6c274e0fc6"),
        "val": (63_297, "1f2a23d992769b5b3d209b0a10dd0b77c08cceb1f20dfb97ed0aafa49d107227"),
        "test_2016_flickr": (62_076, "399a4382932c1aadd3ceb9bef1008d388a64c76d4ae4e9d4728c6f4301cac182"),
    },
    "de": {
        "train": (2_110_398, "2c2b73fd2b548fbcde3a875e0a78d6ee94d498bfdee6bd3eae3945779e9ddf72"),
        "val": (75_981, "660e09eb7e1da2f856ea13ee5ad3cf6d36b3d5b0b733c857e94c5747a3dfc660"),
        "test_2016_flickr": (70_649, "4be6b5b3236b79c25475c6bb829800a7ce559e9ba7a1f6c2394fe4d40be46d16"),
    },
    "fr": {
        "train": (2_111_303, "5925a3c18f1587b6b54b87743106e6e8ab93618edb6f65d19eac0621f853a10d"),
        "val": (73_924, "5304e444d842e962b2dda4d816b70b22a1765b15401642b7ca37a67477e708dc"),
        "test_2016_flickr": (72_261, "cb3160d69b002bb638e66cc7612fcd56cb0af82eadc9c142dedc438afb885ef6"),
    },
}


def _multi30k(language: str) -> tuple[File, ...]:
    homes = (
        "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw/",
        "https://cdn.jsdelivr.net/gh/multi30k/dataset@master/data/task1/raw/",
    )
    files = []
    for part, (size, digest) in MULTI30K[language].items():
        file = f"{part}.{language}.gz"
        files.append(File(f"multi30k/{file}", tuple(h + file for h in homes), f"sha256:{digest}", size))
    return tuple(files)


TU = {  # of each set, by part: bytes and SHA-256
    "MUTAG": {
        "A": (76_878, "bec742fd0ae3c5c8614379635c1b94c55d679468313c3908ffb8da85a1a14961"),
        "graph_indicator": (11_321, "9ad6bba2fd8ab0810896adac0d050ade814f685ca4f88be1b32e502e2415c6da"),
        "graph_labels": (376, "4a2ccc436ebc7c6244566fd1b77d94bb03a888941616f3ae500ef456e6c5dd6a"),
        "node_labels": (6_742, "b3a92059a5255d2eedfff9953ccad7e67533c4978401f72260345b1cfd24e7a1"),
    },
    "PROTEINS": {
        "A": (2_022_990, "cd1ad9e2e230efa057c2d7f67ce9958e8b7088cff08a8db1603922c93bf2e849"),
        "graph_indicator": (169_673, "8d4ff1e852a5c28561e9bffb44cf9490bc552b13a3b6156dd12dc7f44e9afc4a"),
        "graph_labels": (2_226, "9c2be6064d1a59df6e6f911ee76508878b6cb281fb223a8d3a4226393f7ff5f4"),
        "node_labels": (86_942, "f758e8ad3d6e3c026b50833d75f6f90735b94eb3345e4243707f495ca8afea8d"),
    },
    "ENZYMES": {
        "A": (885_124, "5553c84f8f562f3e199dfd27192174f485e85c44c1357661098668937a739cbf"),
        "graph_indicator": (74_914, "95ba0fa47eba6f02e6b754a215dc66d5b49de3f45f57a128514301a8d7ed5f46"),
        "graph_labels": (1_200, "04743e08967e61e65cdacbb90f8df6ee53742b3d2e7b84675b85ebac70506856"),
        "node_attributes": (3_876_850, "305a8fc3b12f79fb844ef3374d6a3c8ceeb4887dd4f86bbfe37932c4c5434e7b"),
        "node_labels": (39_160, "8263eb9b64efa231a5886343483ccfc0342f2407014763a8f738fd51c32ce770"),
    },
}


def _tu(name: str) -> tuple[File, ...]:
    # The public home has archives with other numbers of atoms and classes: these are put there by hand.
    files = {part: f"TUDataset/{name}/raw/{name}_{part}.txt" for part in TU[name]}
    return tuple(File(files[part], (), f"sha256:{sha}", size) for part, (size, sha) in TU[name].items())


SOURCES = {
    source.name: source
    for source in (
        Source("MNIST", _mnist(), "made-digits, vae-digits (images) or cnn-mnist1d (classification)"),
        Source("FashionMNIST", _fashion(), "vit-digits"),
        Source(
            "tinyshakespeare",
            (
                File(
                    "tinyshakespeare/input.txt",
                    (
                        "https://raw.githubusercontent.com/karpathy/char-rnn/master/data/tinyshakespeare/input.txt",
                        "https://cdn.jsdelivr.net/gh/karpathy/char-rnn@master/data/tinyshakespeare/input.txt",
                    ),
                    "sha256:86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed",
                    1_115_394,
                ),
            ),
            "gpt-pydocs",
        ),
        Source("multi30k", _multi30k("en"), "ngram-pydocs"),
        Source("multi30k-de", _multi30k("de"), "attention-spanish"),
        Source("multi30k-fr", _multi30k("fr"), "attention-spanish"),
        Source(
            "Cora",
            _planetoid(
                "Cora",
                {
                    "x": (22_119, "23cfa55d91c6f624233f5eb7b6e3f141f1bd2b2ae39608a63cf5d084bb27baab"),
                    "tx": (148_025, "b9afbaa4a400df991f6f02ef677e1e44da55ffc04801fd02f9e673987829226a"),
                    "allx": (257_305, "9419ba2f26f5c35243db64aba110e0f35a04851609e0dc5433450676ca6b8543"),
                    "y": (4_054, "94465c14eb53e04ca262198dcbb2521ee8af60fb3f3d546cd6ca24a511b0e7d1"),
                    "ty": (28_135, "41f5ac76596a1699cc33f53084a2419e92961c42bb75f36fc38e616d348532ad"),
                    "ally": (47_959, "2b998f5cc7fedc86e7f97ca2498f47a1ffc1462c29e2d578b23bf3f62b6e7d71"),
                    "graph": (59_847, "58f13302f39dde8852dad6fe6d15b89b077b6d7f837626bce671ef80344b383d"),
                    "test.index": (5_000, "297ce89af2b51a6a194181c7dbe1796c6a1cf9cd9349a88383b1b1e227867875"),
                },
            ),
            "gcn-karate",
        ),
        Source(
            "Citeseer",
            _planetoid(
                "Citeseer",
                {
                    "x": (31_087, "d20de19150741e555de0ed037195630fc194114ebc7fd72ced62810148aa22f6"),
                    "tx": (260_321, "539a8906a2da97628d212f2fdd668c109a8b3f0d36574b59e5d3fd5b5303da21"),
                    "allx": (595_021, "2ac30345d95c9ec933a817ee0bdd6a5f077f8c184a20e696910192d534414668"),
                    "y": (3_014, "8ba87e515d8e3ee3cf52f6d2c5b86aa73f11ecad825a808455209ec26cd54924"),
                    "ty": (24_135, "55e5bd1ba1e733a04598753ad1a8d57957f4b8f89e74519f41f4f4938767e4ce"),
                    "ally": (55_623, "f704b2d986dde6c2669934de1f3ae5696a6cf9455c0f6b2646a2d135ea0a1c95"),
                    "graph": (61_987, "d79a4ef9d3e7169aee8946145f6b7306e35bc79bffad26346cfb94e10e9912a7"),
                    "test.index": (5_000, "2af990671580b6b2df5d158d1038f8292e30c9cd821b5453f399659b25b723d4"),
                },
            ),
            "gcn-karate",
        ),
        *(Source(name, _tu(name), "gin-motifs") for name in TU),
    )
}
EMBEDDED = ("Digits", "MNIST1D", "pydocs", "Points", "Karate", "Motifs")


def root() -> Path:
    """The folder of all data: `$LECTERN_DATA`, else the user's cache folder.

    Raises:
        MissingData: it is in the home of nobody.
    """
    if folder := os.environ.get("LECTERN_DATA"):
        try:
            return Path(folder).expanduser()
        except RuntimeError:
            raise MissingData(f"LECTERN_DATA is {folder!r}: there is no such home.") from None
    import pooch

    return Path(pooch.os_cache("lectern"))


def status() -> list[dict[str, Any]]:
    """Status of every data set: `dataset`, `folder`, `present` (all files are there), `embedded`."""
    rows: list[dict[str, Any]] = []
    for source in SOURCES.values():
        present = all(file.locate() for file in source.files)
        row = {"dataset": source.name, "folder": str(source.folder), "present": present, "embedded": False}
        rows.append(row)
    return rows + [{"dataset": n, "folder": "embedded", "present": True, "embedded": True} for n in EMBEDDED]


def find(name: str) -> Source | None:
    """The source of this name in any case; None for embedded data.

    Raises:
        ValueError: no such data set; the message suggests the nearest names.
    """
    names = {n.lower(): n for n in (*SOURCES, *EMBEDDED)}
    names["shakespeare"] = "tinyshakespeare"
    if name.lower() not in names:
        near = get_close_matches(name.lower(), names, n=3) or sorted(names)
        raise ValueError(
            f"There is no data set {name!r}: try {', '.join(dict.fromkeys(names[n] for n in near))}."
        )
    return SOURCES.get(names[name.lower()])


def fetch(name: str) -> Path | None:
    """Make sure that every file of the data set is on disk and whole.

    Returns:
        its folder; None for embedded data, which need no file.

    Raises:
        ValueError: no such data set.
        MissingData: a file is missing or damaged and cannot be fetched.
    """
    source = find(name)
    if source is None:
        return None
    for file in source.files:
        content(source, file)
    return source.folder


def content(source: Source, file: File) -> bytes:
    """The checked content of one file (unpacked), fetched when it is not there.

    Raises:
        MissingData: the file is missing or damaged and cannot be fetched.
    """
    state = "is missing"
    try:
        if (whole := _on_disk(file)) is not None:
            return whole
        with _alone(root() / file.path):
            if (whole := _on_disk(file)) is not None:  # another process has fetched it meanwhile
                return whole
            if damaged := file.locate():
                state = "is damaged"
                os.replace(damaged, damaged.with_name(damaged.name + ".damaged"))
            return _download(file)
    except OSError as error:  # no network, unreadable folder, full disk, ...
        raise MissingData(
            f"{source.name} needs the file {Path(file.path).name} in {source.folder}: it {state} and "
            f"could not be fetched ({_reason(error)}); put it there, or use embedded data, "
            f"which need no file: {source.sister}."
        ) from None


def _on_disk(file: File) -> bytes | None:
    result = file.locate()
    return file.check(result) if result else None


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Lock for one process at a time: the ranks of a training all ask for the same file."""
    from filelock import FileLock

    path.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{path}.lock"):
        yield


def _download(file: File) -> bytes:
    import logging

    import pooch

    # pooch prints the hash of every file whose hash it was not told; ours are of the content
    pooch.get_logger().setLevel(logging.WARNING)
    path, failure = root() / file.path, OSError("no address is known")
    for url in file.urls:
        try:
            pooch.retrieve(url, None, path.name, path.parent, downloader=Resumable(file))
            break
        except OSError as error:  # every exception of requests is one
            failure = error
    else:
        raise failure
    whole = file.check(path)
    if whole is None:
        raise OSError("the file changed while it was read")
    return whole


class Resumable:
    """A downloader for pooch that goes on where an earlier download of `file` stopped."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.part = root() / f"{file.path}.part"

    def __call__(self, url: str, output_file: Any, mypooch: Any = None, check_only: bool = False) -> None:
        import requests

        for attempt in range(ATTEMPTS):
            before = self._size()
            try:
                self._transfer(url)
            except requests.exceptions.RequestException as error:
                # broken off on the way: worth another try here; no answer at all: to the next mirror
                came = self._size() > before
                broken = requests.exceptions.ChunkedEncodingError, requests.exceptions.ReadTimeout
                if attempt == ATTEMPTS - 1 or not (came or isinstance(error, broken)):
                    raise
                if not came:
                    time.sleep(2**attempt * 0.2)
                continue
            if self.file.check(self.part) is not None:
                os.replace(self.part, output_file)
                return
            self.part.unlink()  # nothing of it can be trusted
            if not before:
                break
        raise OSError(f"what {url} sent is not the file: its checksum differs")

    def _size(self) -> int:
        return self.part.stat().st_size if self.part.exists() else 0

    def _transfer(self, url: str) -> None:
        import requests
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

        have = self._size()
        # "identity": a server that packs on the fly would count other bytes than the file has
        headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={have}-"} if have else {})
        timeout = (CONNECT_SECONDS, READ_SECONDS)
        with requests.get(url, headers=headers, stream=True, timeout=timeout) as answer:
            if answer.status_code == 416:  # nothing beyond what we have: whole already, or not this file
                return
            answer.raise_for_status()
            if answer.status_code == 206 and _first_byte(answer.headers.get("Content-Range", "")) == have:
                mode = "ab"
            elif answer.status_code == 206:
                self.part.unlink(missing_ok=True)
                raise requests.exceptions.ChunkedEncodingError("the server sent another part than asked for")
            else:  # the server knows no ranges and sends everything
                mode, have = "wb", 0
            length = answer.headers.get("Content-Length")
            total = have + int(length) if length else None
            columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
            with Progress(*columns, console=Console(stderr=True)) as progress, open(self.part, mode) as part:
                task = progress.add_task(Path(self.file.path).name, total=total, completed=have)
                for chunk in answer.iter_content(CHUNK):
                    if (have := have + len(chunk)) > self.file.most:
                        part.truncate(0)  # nothing of it can be trusted
                        raise OSError(f"{url} sends more than the {self.file.size:,} bytes of the file")
                    part.write(chunk)
                    progress.advance(task, len(chunk))


def _first_byte(content_range: str) -> int | None:
    """`bytes 100-199/200` -> 100."""
    first = content_range.removeprefix("bytes ").split("-")[0]
    return int(first) if first.isdigit() else None


def _reason(error: OSError) -> str:
    """A short cause instead of a stack of nested exceptions."""
    import requests

    if isinstance(error, requests.exceptions.HTTPError) and error.response is not None:
        return f"the server answered {error.response.status_code}"
    if isinstance(error, requests.exceptions.Timeout):
        return "the server did not answer in time"
    if isinstance(error, requests.exceptions.ConnectionError):
        return "no network"
    return str(error.strerror or error).rstrip(".")
