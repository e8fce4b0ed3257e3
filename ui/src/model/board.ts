/* Everything the board shows, as one immutable value, and what events and answers make of it. Pure.

   Law: what did not change keeps its identity, so that nothing is drawn twice. */

import { replaceEqualDeep } from "@tanstack/react-query";
import type { BatchHead, PlaitEvent, Problem, Progress, Run, Task, TaskStatus } from "../api/types";

export interface Board {
  /** By id, in the order of the sources. */
  readonly tasks: ReadonlyMap<string, Task>;
  readonly problems: readonly Problem[];
  /** Newest first. */
  readonly batches: ReadonlyMap<string, BatchHead>;
  /** The board's name of a task by its run. */
  readonly byRun: ReadonlyMap<string, string>;
  /** What running attempts say, by run. */
  readonly activity: ReadonlyMap<string, string>;
}

export const NOTHING: Board = {
  tasks: new Map(),
  problems: [],
  batches: new Map(),
  byRun: new Map(),
  activity: new Map(),
};

export function runKey(batchId: string, taskId: string): string {
  return `${batchId} ${taskId}`;
}

/** A reading of all tasks, of the newest batches and of those that are open takes the place of what was known. */
export function read(
  board: Board,
  tasks: readonly Task[],
  problems: readonly Problem[],
  batches: readonly BatchHead[],
): Board {
  const next = same(
    board.tasks,
    new Map(tasks.map((task) => [task.id, shared(board.tasks.get(task.id), task)])),
  );
  const heads = new Map(batches.map((head) => [head.id, shared(board.batches.get(head.id), head)]));
  return {
    tasks: next,
    problems: shared(board.problems, problems),
    batches: same(board.batches, heads),
    byRun: next === board.tasks ? board.byRun : runsOf(next),
    activity: same(board.activity, atWork(board.activity, next)),
  };
}

/** Where some tasks of one batch stand now. */
export function standing(board: Board, head: BatchHead, runs: readonly Run[]): Board {
  const tasks = new Map(board.tasks);
  for (const run of runs) {
    const id = board.byRun.get(runKey(run.batchId, run.taskId));
    const task = id === undefined ? undefined : tasks.get(id);
    if (task !== undefined) tasks.set(task.id, shared(task, { ...task, batch: run }));
  }
  return { ...board, tasks: same(board.tasks, tasks), batches: withHead(board.batches, head) };
}

/** What an event says by itself, at once: the status of a task, the counts of a batch, what an agent says. */
export function hear(board: Board, events: readonly PlaitEvent[]): Board {
  const tasks = new Map(board.tasks);
  const batches = new Map(board.batches);
  const activity = new Map(board.activity);
  for (const event of events) {
    const { batchId, taskId } = event;
    if (batchId === null) continue;
    const head = batches.get(batchId);
    if (head !== undefined) batches.set(batchId, shared(head, headAfter(head, event)));
    if (taskId === null) continue;
    const key = runKey(batchId, taskId);
    const said = activityIn(event);
    if (said !== null) activity.set(key, said);
    const status = STATUS[event.type];
    if (status === undefined) continue;
    if (!AT_WORK.has(status)) activity.delete(key);
    const id = board.byRun.get(key);
    const task = id === undefined ? undefined : tasks.get(id);
    if (task?.batch)
      tasks.set(task.id, shared(task, { ...task, batch: runAfter(task.batch, event, status) }));
  }
  return {
    ...board,
    tasks: same(board.tasks, tasks),
    batches: same(board.batches, batches),
    activity: same(board.activity, activity),
  };
}

export interface Touched {
  /** Tasks by batch of which more changed than the events say. */
  readonly tasks: ReadonlyMap<string, ReadonlySet<string>>;
  /** Batches whose head changed: their own end, a pause, a publication. */
  readonly batches: ReadonlySet<string>;
  /** There are new batches, or old ones opened again: everything is read anew. */
  readonly everything: boolean;
}

/** What is to be asked for after these events. */
export function touched(events: readonly PlaitEvent[]): Touched {
  const tasks = new Map<string, Set<string>>();
  const batches = new Set<string>();
  let everything = false;
  for (const event of events) {
    const { type, batchId, taskId } = event;
    if (type === "execution:log" || batchId === null) continue;
    if (type === "batch:created" || ends(event)) everything = true;
    if (taskId === null) batches.add(batchId);
    else tasks.set(batchId, (tasks.get(batchId) ?? new Set()).add(taskId));
  }
  return { tasks, batches, everything };
}

/** After these, tasks change that the event does not name: what was reviewed is shipped, sources were written to. */
function ends({ type, publishing }: PlaitEvent): boolean {
  return (
    publishing === "done" ||
    type === "batch:completed" ||
    type === "batch:failed" ||
    type === "batch:cancelled"
  );
}

const STATUS: Partial<Record<string, TaskStatus>> = {
  "batch:task:queued": "queued",
  "batch:task:waiting": "waiting",
  "batch:task:started": "running",
  "batch:task:needs_input": "waiting",
  "batch:task:verifying": "verifying",
  "batch:task:completed": "done",
  "batch:task:failed": "failed",
  "batch:task:timed_out": "timed_out",
  "batch:task:blocked": "blocked",
  "batch:task:skipped": "skipped",
  "batch:task:conflicted": "conflicted",
  "batch:task:cancelled": "cancelled",
  "batch:task:interrupted": "interrupted",
};

// A pause is not among them: whether somebody meant it is told by the server only.
const ON_PERSON: ReadonlySet<unknown> = new Set(["answer", "approval"]);
const AT_WORK: ReadonlySet<TaskStatus> = new Set(["running", "verifying", "merging"]);

function runAfter(run: Run, event: PlaitEvent, status: TaskStatus): Run {
  const { reason, question, on } = event;
  return {
    ...run,
    status,
    reason: reason ?? question ?? (run.status === status ? run.reason : ""),
    attempt: event.attempt ?? run.attempt,
    waiting: event.type === "batch:task:needs_input" ? "answer" : (on ?? null),
    needsYou: event.type === "batch:task:needs_input" || (on !== undefined && ON_PERSON.has(on)),
    startedAt: status === "running" ? event.at : run.startedAt,
  };
}

function headAfter(head: BatchHead, event: PlaitEvent): BatchHead {
  const reason = event.reason ?? "";
  switch (event.type) {
    case "batch:progress":
      return { ...head, progress: counts(head.progress, event) };
    case "batch:started":
    case "batch:unpaused":
      return { ...head, status: "running", reason };
    case "batch:paused":
      return { ...head, status: "paused", reason };
    case "batch:completed":
      return { ...head, status: "completed", reason, completedAt: event.at };
    case "batch:failed":
      return { ...head, status: "failed", reason, completedAt: event.at };
    case "batch:cancelled":
      return { ...head, status: "cancelled", reason, completedAt: event.at };
    default:
      return head;
  }
}

function counts(before: Progress, event: PlaitEvent): Progress {
  const said = event as unknown as Record<string, unknown>;
  const next = { ...before };
  for (const name of Object.keys(before) as (keyof Progress)[]) {
    const count = said[name];
    if (typeof count === "number") next[name] = count;
  }
  return next;
}

function activityIn(event: PlaitEvent): string | null {
  if (event.type === "batch:task:phase") return event.phase ?? null;
  if (event.type !== "execution:log") return null;
  return event.entry?.kind === "activity" ? (event.entry.text ?? null) : null;
}

function withHead(batches: ReadonlyMap<string, BatchHead>, head: BatchHead): ReadonlyMap<string, BatchHead> {
  const known = batches.get(head.id);
  const next = shared(known, head);
  if (known === next) return batches;
  return known === undefined ? new Map([[head.id, next], ...batches]) : new Map(batches).set(head.id, next);
}

function runsOf(tasks: ReadonlyMap<string, Task>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { id, batch } of tasks.values()) {
    if (batch !== null) found.set(runKey(batch.batchId, batch.taskId), id);
  }
  return found;
}

/** Without what is said of runs that are over. */
function atWork(activity: Board["activity"], tasks: ReadonlyMap<string, Task>): ReadonlyMap<string, string> {
  const working = new Set<string>();
  for (const { batch } of tasks.values()) {
    if (batch !== null && AT_WORK.has(batch.status)) working.add(runKey(batch.batchId, batch.taskId));
  }
  return new Map([...activity].filter(([key]) => working.has(key)));
}

/** The map before, where the other holds the very same in the same order. */
function same<V>(before: ReadonlyMap<string, V>, now: ReadonlyMap<string, V>): ReadonlyMap<string, V> {
  if (before.size !== now.size) return now;
  const left = before.entries();
  for (const [key, value] of now) {
    const next = left.next().value;
    if (next === undefined || next[0] !== key || next[1] !== value) return now;
  }
  return before;
}

function shared<T>(before: T | undefined, now: T): T {
  return before === undefined ? now : (replaceEqualDeep(before, now) as T);
}
