"""JSON of whatever texts: names that are not UTF-8 are told as far as JSON can, and nothing in it steers a terminal."""

from __future__ import annotations

import re

_TERMINAL_CONTROLS = re.compile(
    rb"\x7f|\xc2[\x80-\x9f]"
)  # what some terminals take for commands; msgspec escapes the others


def encode_json(value: object) -> bytes:
    import msgspec  # noqa: PLC0415 - only where JSON is asked for

    try:
        data = msgspec.json.encode(value)
    except UnicodeEncodeError:
        import json  # noqa: PLC0415

        return json.dumps(value).encode("ascii")
    if b"\xc2" not in data and b"\x7f" not in data:
        return data
    return _TERMINAL_CONTROLS.sub(lambda found: b"\\u00%02x" % found[0][-1], data)
