"""A model's answer, parsed: the resulting files, or why it can't be used."""

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
from plait.config.agent_keys import ModelConfig
from plait.core.fast_dataclass import dataclass
from plait.core.task import ModelJob, ModelJobMode

MAX_LINES = ModelConfig.output_lines.default
_CUT_OFF_ERROR = AnswerError("the answer was cut off")
_NO_EDITS_ERROR = AnswerError(
    "there are no edits in the answer: write FILE:, FIND:, REPLACE: and END, each on a line of its own"
)
_NO_FILES_ERROR = AnswerError(
    "there are no files in the answer: write FILE: and its path, then the file between two fences"
)
_UNCHANGED_ERROR = AnswerError("the answer changes nothing")


@dataclass(frozen=True, slots=True)
class JobAnswer:
    """All or nothing: with an error there are no files. `lines` is the number that the model wrote."""

    files: Mapping[str, str]
    errors: tuple[AnswerError, ...] = ()
    lines: int = 0
    notes: tuple[str, ...] = ()


def parse_answer(  # noqa: PLR0913 - the request and its answer
    job: ModelJob,
    text: str,
    texts: Mapping[str, str],
    *,
    only: str | None = None,
    cut: bool = False,
    max_lines: int = MAX_LINES,
) -> JobAnswer:
    """`texts` are the job's existing files; `only` is the requested file, if it was one of several or the tests. `cut`: the
    stream ended early. `max_lines` is for one file, or for all edits together.
    """
    if cut:
        return _reject(_CUT_OFF_ERROR)
    if only is not None and (of.writes_whole_files(job) or only == job.tests):
        return _parse_one_file(job, text, only, max_lines)
    if of.writes_whole_files(job):
        return _parse_whole_files(text, FileRequest(of.output_paths(job), of.writable_paths(job)), max_lines)
    return _parse_changes(job, text, texts, None if only is None else (only,), max_lines)


def parse_repair(
    job: ModelJob, text: str, files: Mapping[str, str], *, cut: bool = False, max_lines: int = MAX_LINES
) -> JobAnswer:
    """The answer to a repair prompt: edits, or whole files. Files that the job may not write, and its tests, are refused."""
    allowed = tuple(path for path in files if path in of.writable_paths(job))
    if cut:
        return _reject(_CUT_OFF_ERROR)
    if has_edits(text):
        return _apply_edits(text, EditApplier(files.get, allowed, allowed), max_lines)
    return _parse_some_files(text, FileRequest(allowed if len(allowed) == 1 else (), allowed), max_lines)


def parse_reply_files(
    text: str,
    read: Callable[[str], str | None],
    *,
    cut: bool = False,
    allowed: Collection[str] | None = None,
    max_lines: int = MAX_LINES,
) -> JobAnswer:
    """The answer of an agent that writes no files itself: named whole files, and edits; unnamed blocks are ignored.

    `read` gives the text of a path inside the repository, None if there is no file. `allowed` None: any such path.
    """
    if cut:
        return _reject(_CUT_OFF_ERROR)
    if not has_edits(text):
        return _parse_some_files(text, FileRequest((), None if allowed is None else tuple(allowed)), max_lines)
    return _apply_edits(text, EditApplier(read, allowed), max_lines, allow_rewrite=True)


def _reject(*errors: AnswerError) -> JobAnswer:
    return JobAnswer({}, errors)


def _parse_one_file(job: ModelJob, text: str, only: str, most: int) -> JobAnswer:
    """Other files of the job in the answer are ignored."""
    known = (*of.writable_paths(job), *((job.tests,) if job.tests else ()))
    found, flaws = whole_files(text, FileRequest((only,), known))
    return _check_length({only: found[only]} if only in found else {}, flaws, most)


def _parse_whole_files(text: str, request: FileRequest, most: int) -> JobAnswer:
    return _check_length(*whole_files(text, request), most)


def _parse_some_files(text: str, request: FileRequest, most: int) -> JobAnswer:
    found, flaws = whole_files(text, request)
    return _check_length(found, flaws, most) if found or flaws else _reject(_NO_FILES_ERROR)


def _check_length(found: Mapping[str, str], flaws: Sequence[AnswerError], most: int) -> JobAnswer:
    lines = {path: text.count("\n") for path, text in found.items()}
    long = [_too_long_error(count, most, path) for path, count in lines.items() if count > most]
    if flaws or long:
        return _reject(*flaws, *long)
    return JobAnswer(found, lines=sum(lines.values()))


def _too_long_error(count: int, most: int, path: str = "") -> AnswerError:
    return AnswerError(f"{count} lines were written, and at most {most} are accepted; split the job", path)


def _parse_changes(
    job: ModelJob, text: str, texts: Mapping[str, str], only: tuple[str, ...] | None, most: int
) -> JobAnswer:
    allowed, meant = only or of.writable_paths(job), only or of.target_paths(job)
    bench = EditApplier(texts.get, allowed, meant)
    answer = _apply_edits(text, bench, most)
    if job.mode is not ModelJobMode.UPDATE_FIXTURES or answer.errors:
        return answer
    flaws = find_unrelated_edits(job, bench, answer.files)
    if flaws:
        return _reject(*flaws)
    shown = {**{path: texts[path] for path in meant if path in texts}, **answer.files}
    return JobAnswer(answer.files, lines=answer.lines, notes=find_missing_fields(job, shown))


def _apply_edits(said: str, bench: EditApplier, most: int, *, allow_rewrite: bool = False) -> JobAnswer:
    """`allow_rewrite`: existing files may also be given as a whole."""
    found = parse_edits(said)
    for change in found.changes:
        bench.add(change)
    made = bench.render()
    fresh, wrong = _collect_new_files(found.rest, bench, allow_rewrite=allow_rewrite)
    flaws = (*found.errors, *bench.errors, *wrong)
    flaws += tuple(AnswerError("the result isn't valid UTF-8 text", path) for path in made if not is_text(made[path]))
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
    """A placeholder for existing lines would delete them."""
    put = (line for line in change.put if is_placeholder_line(line) and line not in change.find)
    if (change.path or "").endswith(PROSE_SUFFIXES) or next(put, None) is None:
        return None
    message = f"line {change.line} of the answer: a line is a placeholder for others; write all of them"
    return AnswerError(message, change.path or "")


def _collect_new_files(
    rest: str, bench: EditApplier, *, allow_rewrite: bool
) -> tuple[dict[str, str], list[AnswerError]]:
    """New files beside the edits. Existing ones must be edited: in a whole file, lines could be lost unnoticed."""
    files: dict[str, str] = {}
    flaws: list[AnswerError] = []
    for text, block in find_labelled_blocks(rest):
        path = resolve_path(text, bench.allowed)
        if isinstance(path, AnswerError):
            flaws.append(path)
        elif not block.closed:
            flaws.append(AnswerError(CUT_OFF_MESSAGE, path))
        elif path in bench.hunks or (bench.exists(path) and not allow_rewrite):
            flaws.append(AnswerError("it exists already and must be edited: write FIND:, REPLACE: and END", path))
        elif files.setdefault(path, block.text) != block.text:
            flaws.append(AnswerError("the answer contains this file twice, with different texts", path))
        else:
            flaws += check_content(path, block.text)
    return files, flaws
