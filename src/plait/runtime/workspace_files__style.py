"""How a file is written down, apart from its text: line ends and byte order mark. A new text takes over the old one's."""

from __future__ import annotations

_BOM = b"\xef\xbb\xbf"


def decode_text(data: bytes) -> str | None:
    """What is to be read in it; None if it is no text. Line ends that are all CRLF are given as LF."""
    try:
        text = data.removeprefix(_BOM).decode()
    except UnicodeDecodeError:
        return None
    if "\0" in text:
        return None
    return text.replace("\r\n", "\n") if _has_crlf(data) else text


def encode_like(text: str, old: bytes | None) -> bytes:
    data = text.encode()
    if old is None:
        return data
    if _has_crlf(old):
        data = data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    return _BOM + data if old.startswith(_BOM) and not data.startswith(_BOM) else data


def _has_crlf(data: bytes) -> bool:
    ends = data.count(b"\n")
    return ends > 0 and data.count(b"\r\n") == ends
