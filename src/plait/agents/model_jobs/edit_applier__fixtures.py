"""update_fixtures: a new field in the literals of one struct, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Collection

from plait.agents.model_jobs.edit_applier import EditApplier
from plait.agents.model_jobs.edit_blocks__flaw import AnswerError
from plait.agents.model_jobs.text_search import FileText
from plait.agents.model_jobs.text_search__scopes import find_literals, find_name_mentions
from plait.core.task import ModelJob

_FIELD = re.compile(r"\W*([A-Za-z_$][\w$]*)")


def parse_field_name(job: ModelJob) -> str:
    """`timeout: None` is about `timeout`."""
    found = _FIELD.match(job.new_field)
    return found[1] if found else ""


def find_unrelated_edits(job: ModelJob, bench: EditApplier, files: Collection[str]) -> list[AnswerError]:
    """Changes that are not where the struct is named, or that do not give the new field; and new files."""
    field = parse_field_name(job)
    if not job.struct_name or not field:
        return [AnswerError("the job does not say which struct_name gets which new_field")]
    flaws = [
        AnswerError("this job makes no new files", path) for path in files if path not in bench.originals
    ]
    for path, hunks in bench.hunks.items():
        page = bench.originals[path]
        places = find_name_mentions(page.text, job.struct_name)
        for hunk in hunks:
            line = page.line_at(hunk.start) + 1
            if not any(_is_inside(page, place, hunk.start, hunk.end) for place in places):
                flaws.append(
                    AnswerError(
                        f"line {line} is not where a {job.struct_name} is made; leave it as it is", path
                    )
                )
            elif field not in hunk.put:
                flaws.append(AnswerError(f"what is put at line {line} does not give {field}", path))
    return flaws


def find_missing_fields(job: ModelJob, files: dict[str, str]) -> tuple[str, ...]:
    """Literals that do not have the field even now; only a note, for some of them may take it from another one."""
    field = re.compile(rf"\b{re.escape(parse_field_name(job))}\b")
    return tuple(
        f"{path}:{text.count(chr(10), 0, place.start) + 1}: this {job.struct_name} has no {parse_field_name(job)}"
        for path, text in files.items()
        for place in find_literals(text, job.struct_name)
        if not field.search(text, place.start, place.stop)
    )


def _is_inside(page: FileText, place: range, start: int, end: int) -> bool:
    """Within the literal, or the lines that it is on."""
    first = page.starts[page.line_at(place.start)]
    last = page.line_at(max(place.stop - 1, place.start))
    stop = page.starts[last + 1] if last + 1 < len(page.starts) else len(page.text)
    if start == end:  # an insertion after its last line would be outside of it
        return first < start < stop
    return first <= start and end <= stop
