"""A contest: several entrants for one task, and a referee that picks the best of their changes.

An entrant is written and verified like any task, and never merged. The contested task waits until all its entrants have
ended, successfully or not; its agent is the referee, and the change it chooses is verified and merged like any other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from plait.core.ballot import Vote
from plait.core.decisions import Candidate
from plait.core.fast_dataclass import dataclass
from plait.core.file_locks import GROUP_PREFIX
from plait.core.plan import Plan
from plait.core.state import AttemptState, BatchState, TaskState
from plait.core.status import TaskStatus
from plait.core.task import Need, NeedKind, Task

REFEREE = "referee"
MAX_ENTRANTS = 26  # a judge refers to each by a letter
MAX_JUDGES = 9


@dataclass(frozen=True, slots=True)
class Contest:
    """Run each task `times` times with each of these agents. `judges` is how many vote on the results."""

    agents: tuple[str, ...]
    times: int = 1
    judges: int = 0

    @property
    def size(self) -> int:
        return len(self.agents) * self.times

    def list_entrants(self) -> Iterator[tuple[str, str]]:
        """For each entrant, yield the unique suffix of its id, and its agent."""
        short = [agent.rpartition(":" if ":" in agent else ".")[2] or agent for agent in self.agents]
        for index, agent in enumerate(self.agents):
            label = short[index] if short.count(short[index]) == 1 else f"{short[index]}.{index + 1}"
            for number in range(1, self.times + 1):
                yield (f"{label}-{number}" if self.times > 1 else label), agent


def can_be_contested(task: Task) -> bool:
    """Whether agents may give different results: not for a script or a model job."""
    return task.run is None and task.job is None


def expand_contest(plan: Plan, contest: Contest) -> Plan:
    """Return the plan with entrants before every task that can be contested.

    Choosing takes hardly any time: an entrant has the rank of its task, and the task its rank without its own duration.
    """
    tasks, indexes = _insert_entrants(plan, contest)
    needs: list[tuple[int, ...]] = [()] * len(tasks)
    holds: list[tuple[str, ...]] = [()] * len(tasks)
    ranks = [0.0] * len(tasks)
    after = _longest_path_after(plan)
    for old, index in enumerate(indexes):
        own_needs = tuple(sorted(indexes[need] for need in plan.needs[old]))
        entrants = range(indexes[old - 1] + 1 if old else 0, index)
        needs[index] = tuple(sorted((*own_needs, *entrants)))
        holds[index] = plan.holds[old]
        ranks[index] = after[old] if entrants else plan.ranks[old]
        for entrant in entrants:
            needs[entrant] = own_needs
            # It is never merged, so it needs no file locks; a group may be about more than files.
            holds[entrant] = tuple(lock for lock in plan.holds[old] if lock.startswith(GROUP_PREFIX))
            ranks[entrant] = plan.ranks[old]
    return Plan(tuple(tasks), tuple(needs), tuple(holds), tuple(ranks), plan.phases)


def _insert_entrants(plan: Plan, contest: Contest) -> tuple[list[Task], list[int]]:
    """Return all tasks including entrants, and the new index of each task of the plan."""
    tasks: list[Task] = []
    indexes: list[int] = []
    for task in plan.tasks:
        entrants = (
            [_make_entrant(task, *named, contest) for named in contest.list_entrants()]
            if can_be_contested(task)
            else []
        )
        tasks += entrants
        indexes.append(len(tasks))
        tasks.append(_make_refereed(task, entrants, contest.judges) if entrants else task)
    return tasks, indexes


def _make_entrant(task: Task, label: str, agent: str, contest: Contest) -> Task:
    """Make an entrant of this task. It keeps the task's files, because its prompt names them."""
    own = task.agent == agent or (task.agent is None and len(contest.agents) == 1)
    return replace(
        task,
        id=f"{task.id}@{label}",
        agent=agent,
        model=task.model if own else None,
        conflicts_with=(),
        gating=False,
        entrant=task.id,
    )


def _make_refereed(task: Task, entrants: Sequence[Task], judges: int) -> Task:
    """Make the contested task. Its attempt takes one slot for each judge."""
    waits = tuple(Need(entrant.id, NeedKind.ENTRANT) for entrant in entrants)
    return replace(task, needs=task.needs + waits, agent=REFEREE, model=None, slots=max(task.slots, judges))


def _longest_path_after(plan: Plan) -> list[float]:
    """Return the length of the longest path from each task's end to the end of the plan."""
    after = [0.0] * len(plan.tasks)
    for index, needs in enumerate(plan.needs):
        for need in needs:
            after[need] = max(after[need], plan.ranks[index])
    return after


def find_duplicate_id(plan: Plan) -> str | None:
    """Return an id that occurs twice in the plan: a task has the id of another task's entrant."""
    seen: set[str] = set()
    return next((task.id for task in plan.tasks if task.id in seen or seen.add(task.id)), None)  # type: ignore[func-returns-value]  # it marks it as seen


def why_invalid(plan: Plan) -> str | None:
    """Say why this is no valid contest, or return None: only the contested task may wait for an entrant."""
    ids = {task.id: index for index, task in enumerate(plan.tasks)}
    dependents: dict[int, list[int]] = {index: [] for index, task in enumerate(plan.tasks) if task.entrant}
    for index, needs in enumerate(plan.needs) if dependents else ():
        for need in needs:
            if need in dependents:
                dependents[need].append(index)
    for index, others in dependents.items():
        task = plan.tasks[index]
        if others != [ids.get(task.entrant or "")] or plan.tasks[others[0]].entrant is not None:
            return f"{task.id} is an entrant of {task.entrant}, and only that task may depend on it, and must"
    return None


def is_refereed(task: TaskState, agent: str | None = None) -> bool:
    """Whether a referee chooses the task's change from its entrants'. Not if a person gave the task to another agent
    (`agent`, else the one chosen before).
    """
    return bool(task.entrants) and (agent or task.chosen_agent) in {None, REFEREE}


def list_candidates(batch: BatchState, task: TaskState) -> tuple[Candidate, ...]:
    """List the changes that the referee chooses from."""
    return (
        tuple(_make_candidate(entrant) for entrant in find_passed_entrants(batch, task) if entrant.tip is not None)
        if is_refereed(task)
        else ()
    )


def list_kept_votes(task: TaskState) -> tuple[Vote, ...]:
    """List the votes of earlier attempts to choose: these judges need not be asked again, since no entrant has changed."""
    last = task.last_write
    if task.fresh or last is None or last.outcome is None:
        return ()
    votes = last.decision.votes if last.outcome.ballot is None else last.outcome.ballot.votes
    return tuple(vote for vote in votes if not vote.failure)


def find_passed_entrants(batch: BatchState, task: TaskState) -> list[TaskState]:
    """List the entrants that are done, except for winners that failed verification."""
    return [
        entrant
        for entrant in batch.find_entrants(task)
        if entrant.status is TaskStatus.DONE and entrant.task.id not in task.rejected_entrants
    ]


def is_winner_withdrawn(batch: BatchState, task: TaskState, attempt: AttemptState, winner: str) -> bool:
    """Whether the winner was dropped while the referee was choosing."""
    offered = any(candidate.task == winner for candidate in attempt.decision.candidates)
    return offered and all(entrant.task.id != winner for entrant in find_passed_entrants(batch, task))


def has_no_winner(batch: BatchState, task: TaskState) -> bool:
    """Whether no entrant is left to choose from."""
    return is_refereed(task) and not find_passed_entrants(batch, task)


def is_begun(batch: BatchState, task: TaskState) -> bool:
    """Whether a write attempt has started since the last retry; in a contest, one of any entrant."""
    contest = batch.find_task(task.task.entrant) if task.task.entrant is not None else task
    if contest is None or not contest.entrants:
        return not task.fresh
    return not (contest.fresh and all(entrant.fresh for entrant in batch.find_entrants(contest)))


def _make_candidate(entrant: TaskState) -> Candidate:
    agent = entrant.last_write.agent if entrant.last_write is not None else ""
    return Candidate(
        entrant.task.id,
        agent,
        entrant.base or "",
        entrant.tip or "",
        seconds=entrant.worked,
        spend=entrant.spent,
        diffstat=entrant.diffstat,
    )
