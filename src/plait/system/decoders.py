"""Decodes JSON and MessagePack into dataclasses and structs, in any thread."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")
D = TypeVar("D")

_lock = Lock()
_decoders: dict[tuple[object, object], Any] = {}  # Any: by kind of decoder and by type


def decode_json(data: bytes | str, wanted: type[T]) -> T:
    """Decode JSON. Raises msgspec.DecodeError, UnicodeDecodeError or RecursionError."""
    return _get_decoder(msgspec.json.Decoder, wanted).decode(data)


def decode_msgpack(data: bytes, wanted: type[T]) -> T:
    """Decode MessagePack. Raises msgspec.DecodeError."""
    return _get_decoder(msgspec.msgpack.Decoder, wanted).decode(data)


def _get_decoder(build: Callable[[type[T]], D], wanted: type[T]) -> D:
    """Return the decoder of a type.

    Decoders are built by one thread at a time. msgspec reads the fields of a dataclass then, and the process crashes if two
    threads do that for the same one, which may be a part of different types.
    """
    decoder: D | None = _decoders.get((build, wanted))
    if decoder is None:
        with _lock:
            decoder = _decoders.setdefault((build, wanted), build(wanted))
    return decoder
