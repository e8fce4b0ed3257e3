"""A model's answer, parsed: the resulting files, or why it can't be used."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from enum import StrEnum

from plait.agents.model_jobs import job_spec, whole_files
from plait.agents.model_jobs.code_blocks import clean_answer, is_fence
from plait.agents.model_jobs.edit_applier import EditApplier, find_missing_fields, find_unrelated_edits
from plait.agents.model_jobs.edit_blocks import AnswerError, Change, has_edits, parse_edits
from plait.agents.model_jobs.whole_files import FileRequest, parse_files
from plait.config.agent_keys import ModelConfig
from plait.core.fast_dataclass import dataclass
from plait.core.task import ModelJob, ModelJobMode

MAX_LINES = ModelConfig.output_lines.default
_NO_EDITS_ERROR = AnswerError(
    "there are no edits in the answer: write FILE:, FIND:, REPLACE: and END, each on a line of its own"
)
_NO_FILES_ERROR = AnswerError(
    "there are no files in the answer: write FILE: and its path, then the file between two fences"
)
_UNCHANGED_ERROR = AnswerError("the answer changes nothing")


@dataclass(frozen=True, slots=True)
class JobAnswer:
    """The files of an answer, or its errors: with an error there are no files."""

    files: Mapping[str, str]
    errors: tuple[AnswerError, ...] = ()
    notes: tuple[str, ...] = ()


CUT_OFF_ANSWER = JobAnswer({}, (AnswerError("the answer was cut off"),))


def parse_answer(
    job: ModelJob, text: str, texts: Mapping[str, str], *, only: str | None = None, max_lines: int = MAX_LINES
) -> JobAnswer:
    """Parse the answer to a job. `texts` are the job's existing files; `only` is the requested file, if it was one of
    several or the tests.

    `max_lines` is for one file, or for all edits together.
    """
    if only is not None and (job_spec.writes_whole_files(job) or only == job.tests):
        known = (*job_spec.writable_paths(job), *((job.tests,) if job.tests else ()))
        found, flaws = parse_files(text, FileRequest((only,), known))
        # Other files of the job in the answer are ignored.
        return _check_length({only: found[only]} if only in found else {}, flaws, max_lines)
    if job_spec.writes_whole_files(job):
        return _check_length(
            *parse_files(text, FileRequest(job_spec.output_paths(job), job_spec.writable_paths(job))), max_lines
        )
    return _parse_changes(job, text, texts, only, max_lines)


def parse_repair(job: ModelJob, text: str, files: Mapping[str, str], *, max_lines: int = MAX_LINES) -> JobAnswer:
    """Parse the answer to a repair prompt: edits, or whole files. Other files than the job's, and its tests, are
    refused.
    """
    allowed = tuple(path for path in files if path in job_spec.writable_paths(job))
    if has_edits(text):
        return _apply_edits(text, EditApplier(files.get, allowed, allowed), max_lines)
    return _parse_some_files(text, FileRequest(allowed if len(allowed) == 1 else (), allowed), max_lines)


def parse_reply_files(
    text: str,
    read: Callable[[str], str | None],
    *,
    allowed: Collection[str] | None = None,
    max_lines: int = MAX_LINES,
) -> JobAnswer:
    """Parse the answer of an agent that writes no files itself: named whole files, and edits; unnamed blocks are
    ignored.

    `read` returns the text of a path inside the repository, or None if there is no file. `allowed` None: any such path.
    """
    if has_edits(text):
        return _apply_edits(text, EditApplier(read, allowed), max_lines, allow_rewrite=True)
    return _parse_some_files(text, FileRequest((), None if allowed is None else tuple(allowed)), max_lines)


def _reject(*errors: AnswerError) -> JobAnswer:
    return JobAnswer({}, errors)


def _parse_some_files(text: str, request: FileRequest, max_lines: int) -> JobAnswer:
    found, flaws = parse_files(text, request)
    return _check_length(found, flaws, max_lines) if found or flaws else _reject(_NO_FILES_ERROR)


def _check_length(found: Mapping[str, str], flaws: Sequence[AnswerError], max_lines: int) -> JobAnswer:
    counts = {path: text.count("\n") for path, text in found.items()}
    errors = (*flaws, *(_too_long_error(count, max_lines, path) for path, count in counts.items() if count > max_lines))
    return _reject(*errors) if errors else JobAnswer(found)


def _too_long_error(count: int, max_lines: int, path: str = "") -> AnswerError:
    return AnswerError(f"{count} lines were written, and at most {max_lines} are accepted; split the job", path)


def _parse_changes(job: ModelJob, text: str, texts: Mapping[str, str], only: str | None, max_lines: int) -> JobAnswer:
    allowed, meant = (job_spec.writable_paths(job), job_spec.target_paths(job)) if only is None else ((only,), (only,))
    edits = EditApplier(texts.get, allowed, meant)
    answer = _apply_edits(text, edits, max_lines)
    if job.mode is not ModelJobMode.UPDATE_FIXTURES or answer.errors:
        return answer
    if flaws := find_unrelated_edits(job, edits, answer.files):
        return _reject(*flaws)
    shown = {**{path: texts[path] for path in meant if path in texts}, **answer.files}
    return JobAnswer(answer.files, notes=find_missing_fields(job, shown))


def _apply_edits(text: str, edits: EditApplier, max_lines: int, *, allow_rewrite: bool = False) -> JobAnswer:
    """Apply the edits of an answer. `allow_rewrite`: existing files may also be given as a whole."""
    found = parse_edits(text)
    for change in found.changes:
        edits.add(change)
    made = edits.render()
    fresh, wrong = _collect_new_files(found.rest, edits, allow_rewrite=allow_rewrite)
    flaws = (*found.errors, *edits.errors, *wrong)
    flaws += tuple(
        AnswerError("the result isn't valid UTF-8 text", path) for path in made if not whole_files.is_text(made[path])
    )
    flaws += tuple(flaw for change in found.changes if (flaw := _find_lossy_edit(change)) is not None)
    lines = sum(len(change.put) for change in found.changes)
    lines += sum(text.count("\n") for text in fresh.values())
    if not flaws and not found.changes and not fresh:
        flaws = (_NO_EDITS_ERROR,)
    if not flaws and lines > max_lines:
        flaws = (_too_long_error(lines, max_lines),)
    if not flaws and not fresh and all(edits.originals[path].text == text for path, text in made.items()):
        flaws = (_UNCHANGED_ERROR,)
    return _reject(*dict.fromkeys(flaws)) if flaws else JobAnswer({**made, **fresh})


def _find_lossy_edit(change: Change) -> AnswerError | None:
    """Return an error for an edit with a placeholder for existing lines, which would delete them."""
    put = (line for line in change.put if whole_files.is_placeholder_line(line) and line not in change.find)
    if (change.path or "").endswith(whole_files.PROSE_SUFFIXES) or next(put, None) is None:
        return None
    message = f"line {change.line} of the answer: a line is a placeholder for others; write all of them"
    return AnswerError(message, change.path or "")


def _collect_new_files(
    rest: str, edits: EditApplier, *, allow_rewrite: bool
) -> tuple[dict[str, str], list[AnswerError]]:
    """Return new files and errors. Existing ones must be edited: a whole file could lose lines unnoticed."""
    files: dict[str, str] = {}
    flaws: list[AnswerError] = []
    for text, block in whole_files.find_labelled_blocks(rest):
        path = whole_files.resolve_path(text, edits.allowed)
        if isinstance(path, AnswerError):
            flaws.append(path)
        elif not block.closed:
            flaws.append(AnswerError(whole_files.CUT_OFF_MESSAGE, path))
        elif path in edits.hunks or (edits.exists(path) and not allow_rewrite):
            flaws.append(AnswerError("it exists already and must be edited: write FIND:, REPLACE: and END", path))
        elif files.setdefault(path, block.text) != block.text:
            flaws.append(AnswerError("the answer contains this file twice, with different texts", path))
        else:
            flaws += whole_files.check_content(path, block.text)
    return files, flaws


_MAX_REASON_CHARS = 4000


class Ruling(StrEnum):
    PASS = "PASS"  # noqa: S105 - no password
    PASS_WITH_WARNINGS = "PASS_WITH_WARNINGS"  # noqa: S105 - nor this
    FAIL_SOFT = "FAIL_SOFT"
    FAIL_HARD = "FAIL_HARD"


@dataclass(frozen=True, slots=True)
class ReviewVerdict:
    """The ruling of a review and its reasons. An answer with none of the four words is a soft failure."""

    ruling: Ruling
    reasons: str = ""

    @property
    def passed(self) -> bool:
        return self.ruling in {Ruling.PASS, Ruling.PASS_WITH_WARNINGS}


_AROUND = r"[\s#>*_`\"'\[\]()\u2705\u274c\u26a0\ufe0f-]*"
_WORD = r"(PASS[\s_-]+WITH[\s_-]+WARNINGS?|FAIL[\s_-]*SOFT|FAIL[\s_-]*HARD|PASS(?:ED)?|FAIL(?:ED)?)"
_AFTER = r"(?=[\s*_`\"'\])]*(?:[:.,;!\u2013\u2014-]|\Z))"
_SAID = rf"{_AROUND}{_WORD}(?![A-Za-z]){_AFTER}{_AROUND}[:.,;!\u2013\u2014-]*\s*(.*)"
_LABEL = (
    rf"{_AROUND}(?:the\s+)?(?:(?:final|overall|my)\s+)?(?:verdict|status|result|decision|ruling)(?:\s+is)?{_AROUND}"
)
_FIRST = re.compile(_SAID, re.DOTALL | re.IGNORECASE)
_LABELLED = re.compile(rf"{_LABEL}:{_SAID}", re.DOTALL | re.IGNORECASE)
_HEADING = re.compile(rf"{_LABEL}:?{_AROUND}\Z", re.IGNORECASE)
_ALONE = re.compile(rf"{_AROUND}{_WORD}(?![A-Za-z]){_AROUND}\.?{_AROUND}\Z", re.IGNORECASE)
_FAILS = re.compile(rf"{_AROUND}FAIL_(?:SOFT|HARD)\b{_AFTER}|.*\bFAIL_(?:SOFT|HARD){_AROUND}[.!]?{_AROUND}\Z")
_CONDITION = re.compile(r"(?:but|however|if|once|unless|except|provided|assuming|only)\b", re.IGNORECASE)


def parse_verdict(text: str) -> ReviewVerdict:
    """Parse the verdict: the word on the first line, on one that is labelled as the verdict, or alone on the last one.

    Two that differ are not clear, nor is a pass that has a condition, or a failure beside it.
    """
    texts = (" ".join(line.split())[:500] for line in clean_answer(text).split("\n") if not is_fence(line))
    lines = [line for line in texts if line]
    if not lines:
        return ReviewVerdict(Ruling.FAIL_SOFT, "the verification gave no answer")
    found = dict(_find_rulings(lines))
    rulings = {_parse_ruling(match[1]) for match in found.values()}
    if len(rulings) != 1:
        return _unclear_verdict(lines, "two verdicts that differ" if rulings else "no clear verdict")
    (ruling,) = rulings
    beside = [match[2] for match in found.values() if match.re.groups > 1]
    reasons = [*beside[:1], *(line for index, line in enumerate(lines) if index not in found)]
    made = ReviewVerdict(ruling, _truncate_reasons("\n".join(line for line in reasons if line.strip())))
    doubted = ruling is Ruling.PASS and any(map(_CONDITION.match, beside))
    if made.passed and (doubted or any(map(_FAILS.match, (*lines, *beside)))):
        return _unclear_verdict(lines, "a pass that is none")
    return made


def _find_rulings(lines: Sequence[str]) -> Iterator[tuple[int, re.Match[str]]]:
    for index, line in enumerate(lines):
        headed = index > 0 and _HEADING.match(lines[index - 1]) is not None
        last = index == len(lines) - 1
        match = _LABELLED.match(line)
        if match is None and (index == 0 or headed):
            match = _FIRST.match(line)
        if match is None and last:
            match = _ALONE.match(line)
        if match is not None:
            yield index, match


def _unclear_verdict(lines: Sequence[str], what: str) -> ReviewVerdict:
    reasons = _truncate_reasons("\n".join(lines))
    return ReviewVerdict(Ruling.FAIL_SOFT, f"the verification gave {what}: {reasons}")


def _parse_ruling(word: str) -> Ruling:
    letters = re.sub(r"[^A-Z]", "", word.upper())
    if letters.startswith("PASS"):
        return Ruling.PASS_WITH_WARNINGS if "WARNING" in letters else Ruling.PASS
    return Ruling.FAIL_HARD if letters.endswith("HARD") else Ruling.FAIL_SOFT


def _truncate_reasons(text: str) -> str:
    text = text.strip()
    return text if len(text) <= _MAX_REASON_CHARS else f"{text[: _MAX_REASON_CHARS - 1]}\u2026"
