"""An answer, understood: the files as they are to be, or why it can't be taken."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from plait.agents.model_jobs import job_spec as of
from plait.agents.model_jobs.edit_applier import EditApplier, find_missing_fields, find_unrelated_edits
from plait.agents.model_jobs.edit_blocks import AnswerError, Change, has_edits, parse_edits
from plait.agents.model_jobs.whole_files import (
    CUT_OFF_MESSAGE,
    PROSE_SUFFIXES,
    FileRequest,
    check_content,
    find_labelled_blocks,
    is_placeholder_line,
    is_text,
    parse_files as whole_files,
    resolve_path,
)
from plait.core.fast_dataclass import dataclass
from plait.core.task import ModelJob, ModelJobMode

MAX_LINES = 900
_CUT_OFF_ERROR = AnswerError("the answer ended before its time: it was cut off")
_NO_EDITS_ERROR = AnswerError(
    "there are no edits in the answer: write FILE:, FIND:, REPLACE: and END, each on a line of its own"
)
_NO_FILES_ERROR = AnswerError(
    "there are no files in the answer: write FILE: and its path, then the file between two fences"
)
_UNCHANGED_ERROR = AnswerError("the answer changes nothing")


@dataclass(frozen=True, slots=True)
class JobAnswer:
    """All or nothing: with a flaw there are no files. `lines` are those that the model wrote; `notes` are no flaws."""

    files: Mapping[str, str]
    errors: tuple[AnswerError, ...] = ()
    lines: int = 0
    notes: tuple[str, ...] = ()


def parse_answer(  # noqa: PLR0913 - what was asked, and what came of it
    job: ModelJob,
    said: str,
    texts: Mapping[str, str],
    *,
    only: str | None = None,
    cut: bool = False,
    max_lines: int = MAX_LINES,
) -> JobAnswer:
    """`texts` are the job's files that are there; `only` is the file that was asked for, where it was one of several or
    the tests. `cut`: the stream ended before its time. `most` lines of one file, or of all edits together, are taken.
    """
    if cut:
        return _reject(_CUT_OFF_ERROR)
    if only is not None and (of.writes_whole_files(job) or only == job.tests):
        return _parse_one_file(job, said, only, max_lines)
    if of.writes_whole_files(job):
        return _parse_whole_files(said, FileRequest(of.output_paths(job), of.writable_paths(job)), max_lines)
    return _parse_changes(job, said, texts, None if only is None else (only,), max_lines)


def parse_repair(
    job: ModelJob, said: str, files: Mapping[str, str], *, cut: bool = False, max_lines: int = MAX_LINES
) -> JobAnswer:
    """Of the files that were shown to be repaired (`prompts.repair`): edits of them, or some of them as a whole.

    What the job may not write is refused also here, and so are its tests: they say what is right.
    """
    allowed = tuple(path for path in files if path in of.writable_paths(job))
    if cut:
        return _reject(_CUT_OFF_ERROR)
    if has_edits(said):
        return _apply_edits(said, EditApplier(files.get, allowed, allowed), max_lines)
    return _parse_some_files(said, FileRequest(allowed if len(allowed) == 1 else (), allowed), max_lines)


def parse_reply_files(
    said: str,
    read: Callable[[str], str | None],
    *,
    cut: bool = False,
    allowed: Collection[str] | None = None,
    max_lines: int = MAX_LINES,
) -> JobAnswer:
    """Of any agent that only reads: named files as a whole, and edits. What has no name is talk.

    `read` gives the text of a contained path; None: it is not there. `allowed` None: any contained path.
    """
    if cut:
        return _reject(_CUT_OFF_ERROR)
    if not has_edits(said):
        return _parse_some_files(said, FileRequest((), None if allowed is None else tuple(allowed)), max_lines)
    return _apply_edits(said, EditApplier(read, allowed), max_lines, allow_rewrite=True)


def _reject(*errors: AnswerError) -> JobAnswer:
    return JobAnswer({}, errors)


def _parse_one_file(job: ModelJob, said: str, only: str, most: int) -> JobAnswer:
    """Whatever else of the job is in the answer was not asked for now."""
    known = (*of.writable_paths(job), *((job.tests,) if job.tests else ()))
    found, flaws = whole_files(said, FileRequest((only,), known))
    return _check_length({only: found[only]} if only in found else {}, flaws, most)


def _parse_whole_files(said: str, request: FileRequest, most: int) -> JobAnswer:
    return _check_length(*whole_files(said, request), most)


def _parse_some_files(said: str, request: FileRequest, most: int) -> JobAnswer:
    found, flaws = whole_files(said, request)
    return _check_length(found, flaws, most) if found or flaws else _reject(_NO_FILES_ERROR)


def _check_length(found: Mapping[str, str], flaws: Sequence[AnswerError], most: int) -> JobAnswer:
    lines = {path: text.count("\n") for path, text in found.items()}
    long = [_too_long_error(count, most, path) for path, count in lines.items() if count > most]
    if flaws or long:
        return _reject(*flaws, *long)
    return JobAnswer(found, lines=sum(lines.values()))


def _too_long_error(count: int, most: int, path: str = "") -> AnswerError:
    return AnswerError(f"{count} lines were written, and at most {most} are taken; make several jobs of it", path)


def _parse_changes(
    job: ModelJob, said: str, texts: Mapping[str, str], only: tuple[str, ...] | None, most: int
) -> JobAnswer:
    allowed, meant = only or of.writable_paths(job), only or of.target_paths(job)
    bench = EditApplier(texts.get, allowed, meant)
    answer = _apply_edits(said, bench, most)
    if job.mode is not ModelJobMode.UPDATE_FIXTURES or answer.errors:
        return answer
    flaws = find_unrelated_edits(job, bench, answer.files)
    if flaws:
        return _reject(*flaws)
    shown = {**{path: texts[path] for path in meant if path in texts}, **answer.files}
    return JobAnswer(answer.files, lines=answer.lines, notes=find_missing_fields(job, shown))


def _apply_edits(said: str, bench: EditApplier, most: int, *, allow_rewrite: bool = False) -> JobAnswer:
    """`anew`: files that are there may also be given as a whole."""
    found = parse_edits(said)
    for change in found.changes:
        bench.add(change)
    made = bench.render()
    fresh, wrong = _collect_new_files(found.rest, bench, allow_rewrite=allow_rewrite)
    flaws = (*found.errors, *bench.errors, *wrong)
    flaws += tuple(AnswerError("this would be no text any more", path) for path in made if not is_text(made[path]))
    flaws += tuple(flaw for change in found.changes if (flaw := _find_lossy_edit(change)) is not None)
    lines = sum(len(change.put) for change in found.changes)
    lines += sum(text.count("\n") for text in fresh.values())
    if not flaws and not found.changes and not fresh:
        flaws = (_NO_EDITS_ERROR,)
    if not flaws and lines > most:
        flaws = (_too_long_error(lines, most),)
    if not flaws and not fresh and all(bench.originals[path].text == text for path, text in made.items()):
        flaws = (_UNCHANGED_ERROR,)
    return _reject(*dict.fromkeys(flaws)) if flaws else JobAnswer({**made, **fresh}, lines=lines)


def _find_lossy_edit(change: Change) -> AnswerError | None:
    """Where new lines stand for old ones, those would be lost."""
    put = (line for line in change.put if is_placeholder_line(line) and line not in change.find)
    if (change.path or "").endswith(PROSE_SUFFIXES) or next(put, None) is None:
        return None
    message = f"line {change.line} of the answer: a line of it stands for others; write all of them"
    return AnswerError(message, change.path or "")


def _collect_new_files(
    rest: str, bench: EditApplier, *, allow_rewrite: bool
) -> tuple[dict[str, str], list[AnswerError]]:
    """Files beside the edits that are not there yet: those that are get edits, or lines would be lost unseen."""
    files: dict[str, str] = {}
    flaws: list[AnswerError] = []
    for said, block in find_labelled_blocks(rest):
        path = resolve_path(said, bench.allowed)
        if isinstance(path, AnswerError):
            flaws.append(path)
        elif not block.closed:
            flaws.append(AnswerError(CUT_OFF_MESSAGE, path))
        elif path in bench.hunks or (bench.exists(path) and not allow_rewrite):
            flaws.append(AnswerError("it is there already and is to be edited: write FIND:, REPLACE: and END", path))
        elif files.setdefault(path, block.text) != block.text:
            flaws.append(AnswerError("the answer has this file twice, and not the same", path))
        else:
            flaws += check_content(path, block.text)
    return files, flaws
