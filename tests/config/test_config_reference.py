from __future__ import annotations

from pathlib import Path

from plait.config.reference import render_reference

PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"


def test_the_reference_page_is_up_to_date() -> None:
    """Made anew with `python -m plait.config.reference`."""
    text = PAGE.read_text()
    assert text[text.index("## `[run]`") :] == render_reference()
