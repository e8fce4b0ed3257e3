"""The list. Each defect is one small change of one module's text; text that is not found once is an error."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Defect:
    name: str
    module: str  # below plait.core
    old: str
    new: str


DEFECTS = (
    Defect(
        "a dependency is ignored",
        "evolve.index",
        "or task.question is not None or task.pending:",
        "or task.question is not None:",
    ),
    Defect(
        "a closed phase is ignored",
        "evolve.index",
        "return Owed.NOTHING if task.closed else Owed.START",
        "return Owed.START",
    ),
    Defect("a slot is leaked", "evolve.attempts", "state.slots -= attempt.decision.slots", "pass"),
    Defect(
        "a heavy task counts as one slot",
        "evolve.attempts",
        "batch.slots += attempt.decision.slots",
        "batch.slots += 1",
    ),
    Defect(
        "there is no backoff", "policy", "return batch.settings.backoff.delay(tries, spread)", "return 0.0"
    ),
    Defect(
        "a cancelled task becomes done",
        "evolve.index",
        "if task.doom is not None:\n        return True",
        "if task.doom is not None and not task.unjudged:\n        return True",
    ),
    Defect(
        "nothing is probed after a restart",
        "probe",
        "return [*of_batches, *shipping]",
        "return []",
    ),
    Defect(
        "a breaker never closes",
        "agenda.breaker",
        "for at, provider in state.closings:",
        "for at, provider in ():",
    ),
    Defect(
        "a breaker is not respected",
        "agenda.choose",
        "refused = why_closed(state, provider)",
        "refused = None",
    ),
    Defect(
        "a breaker closes early",
        "agenda.breaker",
        "yield Due(at, BreakerClosed(provider))",
        "yield Due(at - 30.0, BreakerClosed(provider))",
    ),
    Defect(
        "the budget is counted after the fact",
        "agenda.choose",
        "budget.allows(batch.spent + batch.claims + choice.reserve)",
        "budget.allows(batch.spent)",
    ),
    Defect(
        "what runs is not reserved",
        "agenda.choose",
        "budget.allows(batch.spent + batch.claims + choice.reserve)",
        "budget.allows(batch.spent + choice.reserve)",
    ),
    Defect(
        "a barrier lets tasks pass that say what they need",
        "phases",
        "return phase.gate is not None or all(",
        "return all(",
    ),
    Defect(
        "a barrier asks for no more than the batch does",
        "evolve.phases",
        "return batch.settings.phase_gate if phase.phase.gate is None else phase.phase.gate",
        "return batch.settings.phase_gate",
    ),
    Defect(
        "a held file is ignored",
        "ready",
        "if self._holder.get(token, entry.ref) != entry.ref:",
        "if token == entry.ref[0]:",
    ),
    Defect(
        "files are put down before the merge",
        "evolve.attempts",
        "task.unjudged.append(attempt)\n",
        "task.unjudged.append(attempt)\n    state.ready.release((batch.id, task.place), task.tokens)\n",
    ),
    Defect(
        "an exclusive group is one per batch",
        "evolve.index",
        'if token.startswith("group:") or (shared',
        "if (shared",
    ),
    Defect(
        "a permanent failure is tried again",
        "policy",
        "Category.AUTH: Response.NEVER",
        "Category.AUTH: Response.BACKOFF",
    ),
    Defect(
        "a rate limit uses up a retry",
        "agenda.judge",
        "return _again(batch, task, attempt, Step.WRITE, category, why, counted=False)",
        "return _again(batch, task, attempt, Step.WRITE, category, why, counted=True)",
    ),
    Defect(
        "one retry too many",
        "agenda.judge",
        "task.tries >= retries(batch, task)",
        "task.tries > retries(batch, task)",
    ),
    Defect("lost attempts never count", "policy", "\nLOSSES = 3", "\nLOSSES = 300"),
    Defect(
        "dependents of a failure are not blocked",
        "evolve.settle",
        "return int(status is not None and status is not TaskStatus.DONE)",
        "return 0",
    ),
    Defect(
        "two merges at once",
        "agenda.merge",
        "if batch.merging is None and batch.owed[Owed.MERGE]",
        "if batch.owed[Owed.MERGE]",
    ),
    Defect(
        "done without the gate",
        "evolve.index",
        "batch.settings.gate is not None and task.line_place >= batch.gated",
        "batch.settings.gate is None and task.line_place >= batch.gated",
    ),
    Defect(
        "bisection blames a neighbour",
        "agenda.gate",
        "batch.line[bad - 1].place",
        "batch.line[max(0, bad - 2)].place",
    ),
    Defect(
        "what is dropped stays in the branch",
        "agenda.rebuild",
        "if not batch.unwanted or batch.rebuild is not None",
        "if batch.id or batch.rebuild is not None",
    ),
    Defect(
        "a pause is ignored",
        "agenda.slots",
        "return batch.paused is None and state.pressure is None",
        "return state.pressure is None",
    ),
    Defect(
        "memory pressure is ignored",
        "agenda.slots",
        "return batch.paused is None and state.pressure is None",
        "return batch.paused is None",
    ),
    Defect(
        "the room is ignored",
        "agenda.slots",
        "return within_limit(state, slots) and within_room(state, slots)",
        "return within_limit(state, slots)",
    ),
    Defect(
        "a heavy attempt needs room for one slot only",
        "agenda.slots",
        "state.slots + slots <= state.room.slots",
        "state.slots + 1 <= state.room.slots",
    ),
    Defect(
        "what the room is too small for waits for ever",
        "agenda.slots",
        "alone = state.slots == 0 and state.room.slots > 0",
        "alone = False",
    ),
    Defect(
        "one attempt starts where there is no room at all",
        "agenda.slots",
        "alone = state.slots == 0 and state.room.slots > 0",
        "alone = state.slots == 0",
    ),
    Defect(
        "the last engine's room stays",
        "evolve.limits",
        "            state.room = None\n",
        "",
    ),
    Defect(
        "the last engine's lack of memory stays",
        "evolve.limits",
        "            state.pressure = None\n",
        "",
    ),
    Defect(
        "a stop leaves attempts running",
        "agenda.stop",
        "if batch.stopping:",
        "if batch.stopping and not batch.alive:",
    ),
    Defect(
        "a second copy of a request is another request",
        "drive",
        'if getattr(event, "id", None) not in state.seen',
        "if event is not None",
    ),
    Defect(
        "a suspended machine times everything out",
        "evolve.limits",
        "attempt.deadline += by",
        "attempt.deadline += 0.0",
    ),
    Defect(
        "a sign of life is not heard",
        "evolve.attempts",
        "attempt.quiet_since = at - state.jump",
        "attempt.quiet_since += 0.0",
    ),
    Defect(
        "a queue runs two at once",
        "agenda.choose",
        "return not batch.active and (",
        "return len(batch.active) <= 1 and (",
    ),
    Defect(
        "a queue asks nobody",
        "agenda.choose",
        "(task.approved or batch.settings.auto_approve)",
        "(task.approved or not batch.settings.auto_approve)",
    ),
    Defect(
        "a task starts without its needs' code",
        "agenda.start",
        "base=task.base if task.base is not None else batch.head",
        "base=task.base if task.base is not None else batch.base",
    ),
    Defect(
        "verification is forgotten",
        "agenda.judge",
        "is Step.WRITE and check(batch, task)",
        "is Step.WRITE and task.task.verify",
    ),
    Defect(
        "an agent's limit is ignored",
        "agenda.choose",
        "state.agents.get(agent, 0) >= limit",
        "state.agents.get(agent, 0) > limit",
    ),
    Defect("stop-on-fail is forgotten", "agenda.halt", "if batch.settings.stop_on_fail:", "if False:"),
    Defect(
        "chance is left to chance",
        "chance",
        "(seed, *names)",
        "(seed, *names, id(object()))",
    ),
    Defect(
        "a worse task keeps a file from a better one",
        "ready",
        "if first is None or (rival is not None and rival.key < first[0]):",
        "if first is None or rival is not None:",
    ),
    Defect(
        "words are forgotten when an attempt fails",
        "evolve.attempts",
        "task.fresh = False",
        'task.fresh, task.feedback = False, ""',
    ),
    Defect(
        "a stopped gate is a failed gate",
        "evolve.line",
        "gate.ending in {EndWhy.STOP, EndWhy.CANCEL}",
        "gate.ending is EndWhy.CANCEL",
    ),
    Defect(
        "a clock set back makes people wait",
        "evolve.limits",
        "breaker.until += by",
        "breaker.until += 0.0",
    ),
    Defect(
        "rejections go on and on",
        "policy",
        "REJECTIONS = 2",
        "REJECTIONS = 2000",
    ),
    Defect(
        "the base is taken to be good",
        "evolve.line",
        "if size == 0:",
        "if size >= 0:",
    ),
    Defect(
        "publishing is not probed after a restart",
        "probe",
        "return [*of_batches, *shipping]",
        "return of_batches",
    ),
    Defect(
        "what no gate has passed is published",
        "agenda.publish",
        "if batch.settings.gate is None or entry.commit in batch.passed",
        "if entry.commit",
    ),
    Defect(
        "what passed with others passes alone",
        "agenda.gate",
        "return batch.gated < len(batch.line) or batch.head not in batch.passed",
        "return batch.gated < len(batch.line)",
    ),
    Defect(
        "what is being published is published again",
        "agenda.publish",
        "if batch.publishing is not None:",
        "if False:",
    ),
    Defect(
        "a branch is published while it is made anew",
        "agenda.publish",
        "if not line_stands(batch):",
        "if False:",
    ),
    Defect(
        "a paused batch is published",
        "agenda.publish",
        "if wanting(batch) and batch.paused is None and",
        "if wanting(batch) and",
    ),
    Defect(
        "a cancelled batch is published",
        "agenda.publish",
        "or not batch.line or batch.cancelled or",
        "or not batch.line or",
    ),
    Defect(
        "a batch ends while it is being published",
        "agenda.finish",
        "if batch.publishing is None and over(batch) and not wanting(batch):",
        "if over(batch) and not wanting(batch):",
    ),
    Defect(
        "a batch ends and is not published",
        "agenda.finish",
        "over(batch) and not wanting(batch):",
        "over(batch):",
    ),
    Defect(
        "what a failure left on the remote is forgotten",
        "evolve.publish",
        "batch.pushed = report.commit or batch.pushed",
        'batch.pushed = report.commit if hasattr(report, "url") else batch.pushed',
    ),
    Defect(
        "a failed publishing is tried for ever",
        "evolve.publish",
        "batch.unpublished = report",
        "batch.unpublished = None",
    ),
    Defect(
        "what a person was granted is not published",
        "agenda.rules",
        "    publish.asked,\n    clock.owed,",
        "    clock.owed,",
    ),
    Defect(
        "what a task has changed is anybody's",
        "evolve.touched",
        "        state.ready.take((batch.id, task.place), free)\n",
        "",
    ),
    Defect(
        "a changed file is taken from who holds it",
        "evolve.touched",
        "if state.ready.holder(token) is None)",
        "if token)",
    ),
    Defect(
        "a repair does not know what it repairs",
        "agenda.start",
        "repairs=task.repairing",
        "repairs=None",
    ),
)
