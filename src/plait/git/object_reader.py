"""One git process that a thread asks which objects names stand for, instead of starting a process for each question.

Inside `share_readers`, `Git.resolve_commit` and the like use one reader for each repository. It sees refs and objects
that appear meanwhile.
"""

from __future__ import annotations

import os
import select
import subprocess
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager, suppress

_ANSWER_SECONDS = 2.0  # then the question is asked by a command of its own, which can be cancelled
FORMAT = "--batch-check=%(objectname)"

_shared = threading.local()


class ReaderError(Exception):
    """The reader can't answer. A git command of its own can, or says why not."""


class ObjectReader:
    """A running `git cat-file` that answers questions. `start` starts it with FORMAT."""

    def __init__(self, start: Callable[[], subprocess.Popen[bytes]]) -> None:
        self._start = start
        self._process: subprocess.Popen[bytes] | None = None

    def find(self, name: str) -> str | None:
        """Return the id of the object that this name stands for; None if there is none. Raises ReaderError."""
        if "\n" in name:
            raise ReaderError
        try:
            if self._process is None:
                self._process = self._start()
            answer = self._ask(self._process, name)
        except (OSError, ReaderError) as error:
            self.close()
            raise ReaderError from error
        return None if answer.endswith((" missing", " ambiguous")) else answer

    @staticmethod
    def _ask(process: subprocess.Popen[bytes], name: str) -> str:
        assert process.stdin is not None
        assert process.stdout is not None
        os.write(process.stdin.fileno(), name.encode("utf-8", "surrogateescape") + b"\n")
        poll, answer = select.poll(), b""
        poll.register(process.stdout, select.POLLIN)
        while not answer.endswith(b"\n"):
            data = os.read(process.stdout.fileno(), 1 << 16) if poll.poll(1000 * _ANSWER_SECONDS) else b""
            if not data:
                raise ReaderError
            answer += data
        return answer[:-1].decode("utf-8", "surrogateescape")

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with process, suppress(OSError):
                process.kill()


@contextmanager
def share_readers() -> Iterator[None]:
    """Share one reader for each repository in this thread. Nested calls use the readers of the outermost, which closes
    them.
    """
    if getattr(_shared, "readers", None) is not None:
        yield
        return
    readers: dict[Hashable, ObjectReader] = {}
    _shared.readers = readers
    try:
        yield
    finally:
        _shared.readers = None
        for reader in readers.values():
            reader.close()


def find_reader(key: Hashable, start: Callable[[], subprocess.Popen[bytes]]) -> ObjectReader | None:
    """Return the thread's reader for a repository, by a key; None outside of `share_readers`."""
    readers: dict[Hashable, ObjectReader] | None = getattr(_shared, "readers", None)
    return None if readers is None else readers.setdefault(key, ObjectReader(start))
