"""Images are recognised by how they begin, whatever they are called."""

from __future__ import annotations

import pytest

from plait.client.diff_file import IMAGE_MEDIA_TYPES, find_image_type

_IMAGES = {
    b"\x89PNG\r\n\x1a\n\0": "image/png",
    b"\xff\xd8\xff\xe0": "image/jpeg",
    b"GIF89a\1": "image/gif",
    b"RIFF\1\2\3\4WEBPVP8 ": "image/webp",
    b"\0\0\0\x1cftypavif": "image/avif",
    b"BM\1\2\3\4\0\0\0\0": "image/bmp",
    b"\0\0\1\0\1": "image/x-icon",
    b"\xef\xbb\xbf<?xml version='1.0'?>\n<!-- a -->\n<!DOCTYPE svg [<!ENTITY b 'c'>]>\n<svg>": "image/svg+xml",
}


@pytest.mark.parametrize(("content", "media_type"), _IMAGES.items())
def test_an_image_is_recognised_by_its_beginning(content: bytes, media_type: str) -> None:
    assert find_image_type(content) == media_type
    assert find_image_type(b" x" + content) is None


@pytest.mark.parametrize("content", [b"", b"BMW cars", b"<html><svg>", b"GIF", b"RIFF....WAVE", b"<svgs>"])
def test_other_files_are_no_images(content: bytes) -> None:
    assert find_image_type(content) is None


def test_every_type_is_tried() -> None:
    assert {*_IMAGES.values()} == {*IMAGE_MEDIA_TYPES}
