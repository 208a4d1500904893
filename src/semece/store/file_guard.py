"""The place of a run file while it is written: who else may not write it, whether it is still there, what fits in."""

from __future__ import annotations

import errno
import os
import sqlite3
import tempfile
import warnings
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from semece.errors import DiskError

if TYPE_CHECKING:
    from collections.abc import Callable

BUSY = "{} is being written by another process; wait for it, or choose another file with -o"
LOCKED = (
    "{} is locked by another process, or its disk has no locks; wait for that process, or copy the file to another disk"
)
READ_ONLY = "{} is read-only; make it writable, or choose another file with -o"
NO_LOCKS = (
    "{}: the disk has no locks, so a second writer could not be kept out; choose another disk with -o, or make sure "
    "that nobody else writes the file and add --no-lock"
)
_WITHOUT_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EINVAL})
"""What a file system says that has no locks, or whose locks do not answer."""

HEAD_ROOM, LEAST_ROOM = 0.02, 1 << 20
"""Share of the file, and bytes, that stay free beside what a call may bring."""


class FileGuard:
    """Guards the run file of a writer.

    Two locks keep a second writer out, whatever it calls the file: one beside it (``RUN.db.lock``, beside the file that
    a link leads to), and one named by device and inode in the user's own folder of what runs. Neither is a lock on the
    database itself, which closing any other handle would give up.

    Parameters
    ----------
    path : str
        The run file, as it was given.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._locks: list[Any] = []
        self._place: tuple[int, int] | None = None
        self._size = 0

    def lock_name(self) -> None:
        """Take the lock beside the file; its folder is made.

        Raises
        ------
        DiskError
            Another process has it, nobody can write there, or the disk has no locks.
        """
        try:
            Path(self.path).parent.mkdir(parents=True, exist_ok=True)
            self._take(f"{os.path.realpath(self.path)}.lock")
        except OSError as error:
            if Path(self.path).exists() and not os.access(self.path, os.W_OK):
                raise DiskError(READ_ONLY.format(self.path)) from None
            raise DiskError(f"{self.path} cannot be written: {error.strerror or error}") from None

    def lock_file(self) -> None:
        """Take the lock of the file itself, once it is there; remember which file it is.

        Raises
        ------
        DiskError
            Another process writes it, by this name or another.
        """
        found = Path(self.path).stat()
        self._place, self._size = (found.st_dev, found.st_ino), found.st_size
        folder = _runtime_folder()
        if folder is not None:
            self._take(str(folder / f"{found.st_dev}-{found.st_ino}.lock"))

    def _take(self, name: str) -> None:
        from filelock import FileLock, SoftFileLock, Timeout

        lock = FileLock(name)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                lock.acquire(timeout=0)
        except Timeout:
            if not Path(name).exists():  # no version of filelock tells that it cannot be made
                raise DiskError(f"{self.path} cannot be written: no file can be made in its folder") from None
            raise DiskError((BUSY if _has_locks(name) else NO_LOCKS).format(self.path)) from None
        except (NotImplementedError, OSError) as error:
            if isinstance(error, OSError) and error.errno not in _WITHOUT_LOCKS:
                raise
            raise DiskError(NO_LOCKS.format(self.path)) from None
        self._locks.append(lock)
        if isinstance(lock, SoftFileLock):  # a file instead of a lock, which stays after a kill
            self.release()
            raise DiskError(NO_LOCKS.format(self.path))

    def is_busy(self) -> bool | None:
        """Whether another process writes the file; None where that cannot be told."""
        try:
            self._take(f"{os.path.realpath(self.path)}.lock")
        except (DiskError, OSError) as error:
            return str(error) == BUSY.format(self.path) or None
        self.release()
        return False

    def release(self) -> None:
        """Give the locks back."""
        while self._locks:
            self._locks.pop().release()

    def check(self, rescue: Callable[[], str]) -> None:
        """Notice that the file was taken away since it was opened.

        Parameters
        ----------
        rescue : callable
            Saves what can be saved, and says where.

        Raises
        ------
        DiskError
            It was deleted, replaced by another one, or cut short.
        """
        if self._place is None:
            return
        what = None
        try:
            found = Path(self.path).stat()
        except OSError:
            what = "deleted"
        else:
            if (found.st_dev, found.st_ino) != self._place:
                what = "replaced by another file"
            elif found.st_size < self._size:
                what = "cut short"
            self._size = max(self._size, found.st_size)
        if what is not None:
            raise DiskError(f"{self.path} was {what} by another program while it was written; {rescue()}")

    def check_room(self, wanted: int) -> None:
        """Stop before something is bought that cannot be stored.

        Parameters
        ----------
        wanted : int
            Bytes that what is bought may take.

        Raises
        ------
        DiskError
            The disk has less room than that and a head-room of 2 % of the file.
        """
        if self._place is None or not hasattr(os, "statvfs"):
            return
        with suppress(OSError):
            disk = os.statvfs(Path(self.path).parent)
            free, needed = disk.f_bavail * disk.f_frsize, wanted + LEAST_ROOM + int(HEAD_ROOM * self._size)
            if free < needed:
                raise DiskError(
                    f"no space left to write {self.path}: {free / 1e6:,.1f} MB are free, and what is asked next may "
                    f"need {needed / 1e6:,.1f} MB; nothing more is asked, and what was stored is intact: free some "
                    "space and run again"
                )


def _has_locks(name: str) -> bool:
    """Whether a lock that was not had is another's: some versions of filelock do not tell."""
    try:
        import fcntl

        with Path(name).open("rb") as stream:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except ImportError:
        return True
    except OSError as error:
        return error.errno not in _WITHOUT_LOCKS
    return True


def _runtime_folder() -> Path | None:
    """Give the user's folder for what runs, the same for every process; None where there is none."""
    from platformdirs import user_runtime_path

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        places = [user_runtime_path("semece"), Path(tempfile.gettempdir()) / f"semece-{os.getuid()}"]
    for place in places if hasattr(os, "getuid") else places[:1]:
        with suppress(OSError):
            place.mkdir(mode=0o700, parents=True, exist_ok=True)
            if os.access(place, os.W_OK):
                return place
    return None


def copied_aside(connection: sqlite3.Connection, path: str) -> str:
    """Copy what an open database holds to a file beside the place where it was; say where."""
    kept = f"{path}.rescued.db"
    try:
        with closing(sqlite3.connect(kept)) as target:
            connection.backup(target)
    except (sqlite3.Error, OSError):
        return "what it held could not be saved"
    return f"what it held and what came since is saved in {kept}"
