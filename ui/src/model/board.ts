/* The board's data as one immutable value, and how events and responses update it. Pure.

   Law: unchanged parts keep their identity, so that nothing is rendered twice. */

import { replaceEqualDeep } from "@tanstack/react-query";
import type {
  BatchSummary,
  PlaitEvent,
  Problem,
  Progress,
  ProviderLimit,
  Run,
  Task,
  TaskStatus,
} from "../api/types";
import { isAtWork } from "./columns";

export interface Board {
  /** By id, in the order of the sources. */
  readonly tasks: ReadonlyMap<string, Task>;
  readonly problems: readonly Problem[];
  /** Newest first. */
  readonly batches: ReadonlyMap<string, BatchSummary>;
  /** Providers that refuse, while batches are open. */
  readonly limits: readonly ProviderLimit[];
  /** The task's id on the board, by run. */
  readonly byRun: ReadonlyMap<string, string>;
  /** The activity of running attempts, by run. */
  readonly activity: ReadonlyMap<string, string>;
}

export const EMPTY_BOARD: Board = {
  tasks: new Map(),
  problems: [],
  batches: new Map(),
  limits: [],
  byRun: new Map(),
  activity: new Map(),
};

export function runKey(batchId: string, taskId: string): string {
  return `${batchId} ${taskId}`;
}

/** Replaces everything by a full fetch: all tasks, the newest and the open batches. */
export function replaceBoard(
  board: Board,
  tasks: readonly Task[],
  problems: readonly Problem[],
  batches: readonly BatchSummary[],
  limits: readonly ProviderLimit[] = [],
): Board {
  const next = reuseMap(
    board.tasks,
    new Map(tasks.map((task) => [task.id, reuse(board.tasks.get(task.id), task)])),
  );
  const nextBatches = new Map(batches.map((batch) => [batch.id, reuse(board.batches.get(batch.id), batch)]));
  return {
    tasks: next,
    problems: reuse(board.problems, problems),
    batches: reuseMap(board.batches, nextBatches),
    limits: reuse(board.limits, limits),
    byRun: next === board.tasks ? board.byRun : indexRuns(next),
    activity: reuseMap(board.activity, activeOnly(board.activity, next)),
  };
}

/** Updates some tasks of one batch. */
export function updateBatch(board: Board, batch: BatchSummary, runs: readonly Run[]): Board {
  const tasks = new Map(board.tasks);
  for (const run of runs) {
    const id = board.byRun.get(runKey(run.batchId, run.taskId));
    const task = id === undefined ? undefined : tasks.get(id);
    if (task !== undefined) tasks.set(task.id, reuse(task, { ...task, batch: run }));
  }
  return { ...board, tasks: reuseMap(board.tasks, tasks), batches: withBatch(board.batches, batch) };
}

/** Applies what an event itself contains: a task's status or merged commit, a batch's counts, an agent's activity. */
export function applyEvents(board: Board, events: readonly PlaitEvent[]): Board {
  const tasks = new Map(board.tasks);
  const batches = new Map(board.batches);
  const activity = new Map(board.activity);
  for (const event of events) {
    const { batchId, taskId } = event;
    if (batchId === null) continue;
    const batch = batches.get(batchId);
    if (batch !== undefined) batches.set(batchId, reuse(batch, updateSummary(batch, event)));
    if (taskId === null) continue;
    const key = runKey(batchId, taskId);
    const activityText = getActivity(event);
    if (activityText !== null) activity.set(key, activityText);
    const status = STATUS_BY_EVENT[event.type];
    if (status !== undefined && !isAtWork(status)) activity.delete(key);
    const id = board.byRun.get(key);
    const task = id === undefined ? undefined : tasks.get(id);
    if (task?.batch)
      tasks.set(task.id, reuse(task, { ...task, batch: updateRun(task.batch, event, status) }));
  }
  return {
    ...board,
    tasks: reuseMap(board.tasks, tasks),
    batches: reuseMap(board.batches, batches),
    activity: reuseMap(board.activity, activity),
  };
}

export interface BoardChanges {
  /** Tasks, by batch, that changed beyond what the events contain. */
  readonly tasks: ReadonlyMap<string, ReadonlySet<string>>;
  /** Batches that changed themselves: ended, paused, published. */
  readonly batches: ReadonlySet<string>;
  /** There are new or reopened batches: everything is fetched again. */
  readonly everything: boolean;
}

/** What to fetch after these events. */
export function collectChanges(events: readonly PlaitEvent[]): BoardChanges {
  const tasks = new Map<string, Set<string>>();
  const batches = new Set<string>();
  let everything = false;
  for (const event of events) {
    const { type, batchId, taskId } = event;
    if (type === "limit:opened" || type === "limit:closed") everything = true;
    if (type === "execution:log" || batchId === null) continue;
    if (type === "batch:created" || changesOtherTasks(event)) everything = true;
    if (taskId === null) batches.add(batchId);
    else tasks.set(batchId, (tasks.get(batchId) ?? new Set()).add(taskId));
  }
  return { tasks, batches, everything };
}

/** Events after which tasks change that they don't name: a published branch, written sources. */
function changesOtherTasks({ type, publishing }: PlaitEvent): boolean {
  return (
    publishing === "done" ||
    type === "batch:completed" ||
    type === "batch:failed" ||
    type === "batch:cancelled"
  );
}

const STATUS_BY_EVENT: Partial<Record<string, TaskStatus>> = {
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

// Not a pause: only the server knows whether a person paused on purpose.
const WAITS_FOR_PERSON: ReadonlySet<unknown> = new Set(["answer", "approval"]);

function updateRun(run: Run, event: PlaitEvent, status: TaskStatus | undefined): Run {
  if (event.type === "batch:task:merged") {
    const commit = event.commit ?? run.commit;
    return { ...run, commit, review: run.status === "done" && commit !== null };
  }
  if (status === undefined) return run;
  const { reason, question, on } = event;
  const same = run.status === status;
  return {
    ...run,
    status,
    reason: reason ?? question ?? (same ? run.reason : ""),
    short: reason ?? question ?? (same ? run.short : ""),
    attempt: event.attempt ?? run.attempt,
    review: status === "done" && run.commit !== null, // what was merged just now isn't published
    waiting: event.type === "batch:task:needs_input" ? "answer" : (on ?? null),
    needsYou: event.type === "batch:task:needs_input" || (on !== undefined && WAITS_FOR_PERSON.has(on)),
    startedAt: status === "running" ? event.at : run.startedAt,
    workingSince: isAtWork(status) ? (run.workingSince ?? event.at) : null,
  };
}

function updateSummary(batch: BatchSummary, event: PlaitEvent): BatchSummary {
  const reason = event.reason ?? "";
  switch (event.type) {
    case "batch:progress":
      return { ...batch, progress: updateProgress(batch.progress, event) };
    case "batch:started":
    case "batch:unpaused":
      return { ...batch, status: "running", reason };
    case "batch:paused":
      return { ...batch, status: "paused", reason };
    case "batch:completed":
      return {
        ...batch,
        status: event.status ?? "completed",
        progress: event.progress ?? batch.progress,
        reason,
        completedAt: event.at,
      };
    case "batch:failed":
      return { ...batch, status: "failed", reason, completedAt: event.at };
    case "batch:cancelled":
      return { ...batch, status: "cancelled", reason, completedAt: event.at };
    default:
      return batch;
  }
}

function updateProgress(before: Progress, event: PlaitEvent): Progress {
  const fields = event as unknown as Record<string, unknown>;
  const next = { ...before };
  for (const name of Object.keys(before) as (keyof Progress)[]) {
    const count = fields[name];
    if (typeof count === "number") next[name] = count;
  }
  return next;
}

function getActivity(event: PlaitEvent): string | null {
  if (event.type === "batch:task:phase") return event.phase ?? null;
  if (event.type !== "execution:log") return null;
  return event.entry?.kind === "activity" ? (event.entry.text ?? null) : null;
}

function withBatch(
  batches: ReadonlyMap<string, BatchSummary>,
  batch: BatchSummary,
): ReadonlyMap<string, BatchSummary> {
  const known = batches.get(batch.id);
  const next = reuse(known, batch);
  if (known === next) return batches;
  return known === undefined ? new Map([[batch.id, next], ...batches]) : new Map(batches).set(batch.id, next);
}

function indexRuns(tasks: ReadonlyMap<string, Task>): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { id, batch } of tasks.values()) {
    if (batch !== null) found.set(runKey(batch.batchId, batch.taskId), id);
  }
  return found;
}

/** Removes the activities of ended runs. */
function activeOnly(
  activity: Board["activity"],
  tasks: ReadonlyMap<string, Task>,
): ReadonlyMap<string, string> {
  const working = new Set<string>();
  for (const { batch } of tasks.values()) {
    if (batch !== null && isAtWork(batch.status)) working.add(runKey(batch.batchId, batch.taskId));
  }
  return new Map([...activity].filter(([key]) => working.has(key)));
}

/** The earlier map if both have the same entries in the same order. */
function reuseMap<V>(before: ReadonlyMap<string, V>, now: ReadonlyMap<string, V>): ReadonlyMap<string, V> {
  if (before.size !== now.size) return now;
  const left = before.entries();
  for (const [key, value] of now) {
    const next = left.next().value;
    if (next === undefined || next[0] !== key || next[1] !== value) return now;
  }
  return before;
}

function reuse<T>(before: T | undefined, now: T): T {
  return before === undefined ? now : (replaceEqualDeep(before, now) as T);
}
