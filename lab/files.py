"""Files that are there whole or not at all, on the disk and not only in its cache.

A seal is the SHA-256 of all bytes before it, put behind them: one flipped bit shows.
"""

import errno
import hashlib
import mmap
import os
import shutil
from contextlib import suppress
from pathlib import Path

from lab.errors import UserError
from lab.untrusted import opened

SEAL = hashlib.sha256().digest_size
ZIP_END = slice(-22, -18), b"PK\x05\x06"  # where an archive ends that nobody sealed, and what stands there


def write(path: Path, *parts: bytes | memoryview, older: Path | None = None) -> None:
    """Write `parts` beside `path`, to the disk, read them again, and only then put them in its place.

    Args:
        older: a second name for what `path` was until now.

    Raises:
        UserError: the disk is full or the folder cannot be written; what was there is untouched.
    """
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(part, "w+b") as file:
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
            file.seek(0)
            if hashlib.file_digest(file, "sha256").digest() != digest(*parts):
                raise OSError(errno.EIO, "the disk returned something else than was written")
        if older and path.exists():
            keep(path, older)
        os.replace(part, path)
        sync(path.parent)
    except OSError as error:
        with suppress(OSError):  # where nothing could be begun there is nothing to take away
            part.unlink()
        full = error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
        why = "the disk is full: free some space" if full else f"{error.strerror}: choose another folder"
        raise UserError(f"Cannot save {path}: {why} and save again.") from error


def keep(path: Path, older: Path) -> None:
    """Give a file a second name; what had that name is gone."""
    older.unlink(missing_ok=True)
    try:
        os.link(path, older)
    except OSError:  # a file system without links
        shutil.copyfile(path, older)


def sync(folder: Path) -> None:
    """Bring a folder's names to the disk, where the system has that."""
    if hasattr(os, "O_DIRECTORY"):
        descriptor = os.open(folder, os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def digest(*parts: bytes | memoryview) -> bytes:
    """SHA-256 of the parts one after the other: a seal for them."""
    whole = hashlib.sha256()
    for part in parts:
        whole.update(part)
    return whole.digest()


def is_damaged(path: Path) -> bool:
    """Check whether a sealed file is not what was written. An archive without a seal is for others to
    judge."""
    place, end = ZIP_END
    with opened(path) as file:
        if os.fstat(file.fileno()).st_size <= SEAL:
            return True
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data, memoryview(data) as view:
            return data[place] != end and digest(view[:-SEAL]) != data[-SEAL:]
