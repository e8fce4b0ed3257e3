"""What `plait init` goes by: the sources, the agents and the tests that are there."""

from __future__ import annotations

from plait.adapters.checkout.find import discover
from plait.adapters.checkout.load import load
from plait.adapters.checkout.place import Place
from plait.adapters.checkout.suggestion import Suggestion
from plait.adapters.checkout.tools import PREFERRED, agents, test_command
from plait.core.errors import PlaitError
from plait.core.frozen import dataclass
from plait.core.plan import Severity


@dataclass(frozen=True, slots=True)
class Seen:
    """A source that was looked at: its tasks that are not closed, of all; or why there are none."""

    path: str
    format: str | None = None
    open: int = 0
    total: int = 0
    problem: str | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """`agent` is the first of those that plait takes without being told to, `preferred`."""

    sources: tuple[Seen, ...]
    agents: tuple[str, ...]
    verify: Suggestion | None
    preferred: tuple[str, ...] = PREFERRED

    @property
    def agent(self) -> str | None:
        return next((name for name in self.preferred if name in self.agents), None)


def look(place: Place, path: str) -> Findings:
    """`path` is the PATH that agents are looked for on. Nothing is run."""
    sources = tuple(look_at(place, place.spell(source)) for source in discover(place.top))
    return Findings(sources, agents(path), test_command(place.top))


def look_at(place: Place, name: str) -> Seen:
    """A source by its name as seen from the top. A glob may be several."""
    if not _lasting(name):
        return Seen(name, problem="no file of settings can hold a name like this")
    try:
        found, _ = load(place, [name], where=place.top)
    except PlaitError as error:
        return Seen(name, problem=error.message.removeprefix(f"{name}: "))
    formats = " and ".join(dict.fromkeys(source.format for source in found))
    tasks = [entry for source in found for entry in source.reading.entries if not entry.parts]
    if tasks:
        return Seen(name, formats, sum(not entry.mark.closed for entry in tasks), len(tasks))
    problems = [problem for source in found for problem in source.reading.problems]
    worst = min(problems, key=lambda problem: list(Severity).index(problem.severity), default=None)
    said = f"{worst.at}: {worst.message}" if worst else "there is no task in it"
    return Seen(name, formats, problem=said)


def _lasting(name: str) -> bool:
    """Whether a name comes back as it is from a text file: bytes that are not UTF-8 and spaces at the ends don't."""
    return name == name.strip() and not any("\ud800" <= char <= "\udfff" for char in name)
