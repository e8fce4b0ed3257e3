"""Generated texts: every format reads them in time that grows with their length, and says what is wrong.

`PLAIT_HOSTILE_LONG=1` for texts of ten megabytes. A reader that costs the square of the length would not come to its end.
"""

from __future__ import annotations

import os

import pytest

from plait.sources.formats import FORMATS
from plait.testing.contracts.source_format import FormatUnderTest, check_any_text

SIZE = 10_000_000 if os.environ.get("PLAIT_HOSTILE_LONG") else 20_000
PATHS = {"taskmaster": ".taskmaster/tasks/tasks.json", "beads": ".beads/issues.jsonl", "prd": "prd.json"}

MARKDOWN = {
    "one word": "a",
    "boxes on one line": "- [ ] 1.1 a ",
    "boxes": "- [ ] 1.1 Do it in `src/a.py` (depends: 1.2)\n",
    "boxes with T-ids": "- [ ] T001 [P] [US1] Do it (depends on T002)\n",
    "numbered headings": "### 7. Title ✅\n**Status**: [NOT STARTED]\n**Dependencies**: 1-9, Task 8\n",
    "phases": "## Phase 1: A\n**Execution Note:** Tasks 1.1-1.9 are [SEQUENTIAL] - why\n- [ ] 1.1 a\n",
    "sections": "## 1. A\n- [ ] 1.1 a\n",
    "front matter": "---\nneeds: [a, b]\nid: x\n---\n",
    "open brackets": "[",
    "stars": "*",
    "back-ticks": "`",
    "quotes": "> ",
    "rules": "---\n",
    "tables": "| Task | Status |\n|---|---|\n| 1 | DONE |\n",
    "indents": " ",
    "tabs": "\t- [ ] x\n",
    "lines of nothing": "\r\n",
    "zeros": "\0",
    "not UTF-8": "\udcff",
    "numbers": "1.",
    "references": "[a]: b\n",
    "comments": "<!--\n",
    "arrows": "T001 → T002 -> ",
}
JSON_TEXTS = {
    "open": "[",
    "objects": '{"a":',
    "strings": '"',
    "escapes": '"\\',
    "lines": '{"id": "a", "title": "b", "status": "open", "dependencies": [{"depends_on_id": "a"}]}\n',
    "numbers": "9",
    "commas": ",",
    "zeros": "\0",
    "spaces": " ",
}


@pytest.mark.parametrize("name", [name for name, row in FORMATS.items() if not row.is_json])
@pytest.mark.parametrize("text", MARKDOWN)
def test_a_long_markdown_text_is_read(name: str, text: str) -> None:
    piece = MARKDOWN[text]
    check_any_text(FormatUnderTest(name, "notes/work.md"), piece * (SIZE // len(piece)))


@pytest.mark.parametrize("name", [name for name, row in FORMATS.items() if row.is_json])
@pytest.mark.parametrize("text", JSON_TEXTS)
def test_a_long_json_text_is_read(name: str, text: str) -> None:
    piece = JSON_TEXTS[text]
    check_any_text(FormatUnderTest(name, PATHS[name]), piece * (SIZE // len(piece)))
