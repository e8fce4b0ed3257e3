"""An answer, understood: the files as they are to be, or why it can't be taken."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from plait.agents.jobs import files as of
from plait.agents.jobs.applying import Workbench
from plait.agents.jobs.edits import Change, edits, has_edits
from plait.agents.jobs.fixtures import strays, without_field
from plait.agents.jobs.flaw import Flaw
from plait.agents.jobs.reply import CUT, Request, content, files as whole_files, labelled, resolved, writable
from plait.agents.jobs.talk import PROSE, stands_for_others
from plait.core.frozen import dataclass
from plait.core.task import Job, JobMode

MOST_LINES = 900

_CUT = Flaw("the answer ended before its time: it was cut off")
_NO_EDITS = Flaw(
    "there are no edits in the answer: write FILE:, FIND:, REPLACE: and END, each on a line of its own"
)
_NO_FILES = Flaw(
    "there are no files in the answer: write FILE: and its path, then the file between two fences"
)
_SAME = Flaw("the answer changes nothing")


@dataclass(frozen=True, slots=True)
class Answer:
    """All or nothing: with a flaw there are no files. `lines` are those that the model wrote; `notes` are no flaws."""

    files: Mapping[str, str]
    flaws: tuple[Flaw, ...] = ()
    lines: int = 0
    notes: tuple[str, ...] = ()


def understand(  # noqa: PLR0913 - what was asked, and what came of it
    job: Job,
    said: str,
    texts: Mapping[str, str],
    *,
    only: str | None = None,
    cut: bool = False,
    most: int = MOST_LINES,
) -> Answer:
    """`texts` are the job's files that are there; `only` is the file that was asked for, where it was one of several or
    the tests. `cut`: the stream ended before its time. `most` lines of one file, or of all edits together, are taken.
    """
    if cut:
        return _refused(_CUT)
    if only is not None and (of.whole(job) or only == job.tests):
        return _one(job, said, only, most)
    if of.whole(job):
        return _whole(said, Request(of.outputs(job), of.writable(job)), most)
    return _changes(job, said, texts, None if only is None else (only,), most)


def understand_repair(
    job: Job, said: str, files: Mapping[str, str], *, cut: bool = False, most: int = MOST_LINES
) -> Answer:
    """Of the files that were shown to be repaired (`prompts.repair`): edits of them, or some of them as a whole.

    What the job may not write is refused also here, and so are its tests: they say what is right.
    """
    allowed = tuple(path for path in files if path in of.writable(job))
    if cut:
        return _refused(_CUT)
    if has_edits(said):
        return _edited(said, Workbench(files.get, allowed, allowed), most)
    return _some(said, Request(allowed if len(allowed) == 1 else (), allowed), most)


def understand_replies(
    said: str,
    read: Callable[[str], str | None],
    *,
    cut: bool = False,
    allowed: Collection[str] | None = None,
    most: int = MOST_LINES,
) -> Answer:
    """Of any agent that only reads: named files as a whole, and edits. What has no name is talk.

    `read` gives the text of a contained path; None: it is not there. `allowed` None: any contained path.
    """
    if cut:
        return _refused(_CUT)
    if not has_edits(said):
        return _some(said, Request((), None if allowed is None else tuple(allowed)), most)
    return _edited(said, Workbench(read, allowed), most, anew=True)


def _refused(*flaws: Flaw) -> Answer:
    return Answer({}, flaws)


def _one(job: Job, said: str, only: str, most: int) -> Answer:
    """Whatever else of the job is in the answer was not asked for now."""
    known = (*of.writable(job), *((job.tests,) if job.tests else ()))
    found, flaws = whole_files(said, Request((only,), known))
    return _limited({only: found[only]} if only in found else {}, flaws, most)


def _whole(said: str, request: Request, most: int) -> Answer:
    return _limited(*whole_files(said, request), most)


def _some(said: str, request: Request, most: int) -> Answer:
    found, flaws = whole_files(said, request)
    return _limited(found, flaws, most) if found or flaws else _refused(_NO_FILES)


def _limited(found: Mapping[str, str], flaws: Sequence[Flaw], most: int) -> Answer:
    lines = {path: text.count("\n") for path, text in found.items()}
    long = [_too_long(count, most, path) for path, count in lines.items() if count > most]
    if flaws or long:
        return _refused(*flaws, *long)
    return Answer(found, lines=sum(lines.values()))


def _too_long(count: int, most: int, path: str = "") -> Flaw:
    return Flaw(f"{count} lines were written, and at most {most} are taken; make several jobs of it", path)


def _changes(
    job: Job, said: str, texts: Mapping[str, str], only: tuple[str, ...] | None, most: int
) -> Answer:
    allowed, meant = only or of.writable(job), only or of.targets(job)
    bench = Workbench(texts.get, allowed, meant)
    answer = _edited(said, bench, most)
    if job.mode is not JobMode.UPDATE_FIXTURES or answer.flaws:
        return answer
    flaws = strays(job, bench, answer.files)
    if flaws:
        return _refused(*flaws)
    shown = {**{path: texts[path] for path in meant if path in texts}, **answer.files}
    return Answer(answer.files, lines=answer.lines, notes=without_field(job, shown))


def _edited(said: str, bench: Workbench, most: int, *, anew: bool = False) -> Answer:
    """`anew`: files that are there may also be given as a whole."""
    found = edits(said)
    for change in found.changes:
        bench.take(change)
    made = bench.texts()
    fresh, wrong = _fresh(found.rest, bench, anew=anew)
    flaws = (*found.flaws, *bench.flaws, *wrong)
    flaws += tuple(Flaw("this would be no text any more", path) for path in made if not writable(made[path]))
    flaws += tuple(flaw for change in found.changes if (flaw := _lossy(change)) is not None)
    lines = sum(len(change.put) for change in found.changes)
    lines += sum(text.count("\n") for text in fresh.values())
    if not flaws and not found.changes and not fresh:
        flaws = (_NO_EDITS,)
    if not flaws and lines > most:
        flaws = (_too_long(lines, most),)
    if not flaws and not fresh and all(bench.pages[path].text == text for path, text in made.items()):
        flaws = (_SAME,)
    return _refused(*dict.fromkeys(flaws)) if flaws else Answer({**made, **fresh}, lines=lines)


def _lossy(change: Change) -> Flaw | None:
    """Where new lines stand for old ones, those would be lost."""
    put = (line for line in change.put if stands_for_others(line) and line not in change.find)
    if (change.path or "").endswith(PROSE) or next(put, None) is None:
        return None
    message = f"line {change.line} of the answer: a line of it stands for others; write all of them"
    return Flaw(message, change.path or "")


def _fresh(rest: str, bench: Workbench, *, anew: bool) -> tuple[dict[str, str], list[Flaw]]:
    """Files beside the edits that are not there yet: those that are get edits, or lines would be lost unseen."""
    files: dict[str, str] = {}
    flaws: list[Flaw] = []
    for said, block in labelled(rest):
        path = resolved(said, bench.allowed)
        if isinstance(path, Flaw):
            flaws.append(path)
        elif not block.closed:
            flaws.append(Flaw(CUT, path))
        elif path in bench.hunks or (bench.exists(path) and not anew):
            flaws.append(Flaw("it is there already and is to be edited: write FIND:, REPLACE: and END", path))
        elif files.setdefault(path, block.text) != block.text:
            flaws.append(Flaw("the answer has this file twice, and not the same", path))
        else:
            flaws += content(path, block.text)
    return files, flaws
