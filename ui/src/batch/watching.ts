/* What a batch is like for those who watch it. Pure. */

import type { BatchHead, BatchStatus, Progress, Run, Task } from "../api/types";

const OPEN: ReadonlySet<BatchStatus> = new Set(["pending", "running", "paused", "merging"]);

export function isOpen({ status }: Pick<BatchHead, "status">): boolean {
  return OPEN.has(status);
}

/** What a batch wants of a person. */
export interface Asked {
  /** How many of its tasks can only go on by a person. */
  readonly count: number;
  /** The one whose turn it is in a queue, and who waits for approval. */
  readonly approval: Run | null;
}

export const ASKS_NOTHING: Asked = { count: 0, approval: null };

const known = new WeakMap<ReadonlyMap<string, Task>, ReadonlyMap<string, Asked>>();

/** By batch; worked out once for each state of the tasks, however many ask. */
export function askedBy(tasks: ReadonlyMap<string, Task>): ReadonlyMap<string, Asked> {
  const before = known.get(tasks);
  if (before !== undefined) return before;
  const found = new Map<string, Asked>();
  for (const { batch: run } of tasks.values()) {
    if (run?.waiting) found.set(run.batchId, withRun(found.get(run.batchId) ?? ASKS_NOTHING, run));
  }
  known.set(tasks, found);
  return found;
}

export function askedOf(runs: readonly Run[]): Asked {
  return runs.reduce(withRun, ASKS_NOTHING);
}

function withRun(asked: Asked, run: Run): Asked {
  return {
    count: asked.count + (run.needsYou ? 1 : 0),
    approval: asked.approval ?? (run.waiting === "approval" ? run : null),
  };
}

/** That it is paused, and by what; `null`: it is not. */
export function pauseOf({ status, reason }: Pick<BatchHead, "status" | "reason">): string | null {
  if (status !== "paused") return null;
  if (/^(paused|stopped) /.test(reason)) return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}`;
  return reason === "" ? "Paused" : `Paused: ${reason}`;
}

export type Tone = "done" | "running" | "waiting" | "failed" | "stopped";

export interface Segment {
  readonly name: string;
  readonly tone: Tone;
  readonly count: number;
}

const SEGMENTS: readonly [keyof Progress, string, Tone][] = [
  ["completed", "done", "done"],
  ["failed", "failed", "failed"],
  ["timedOut", "timed out", "failed"],
  ["conflicted", "conflicted", "failed"],
  ["blocked", "blocked", "failed"],
  ["skipped", "skipped", "stopped"],
  ["cancelled", "cancelled", "stopped"],
  ["interrupted", "interrupted", "stopped"],
  ["running", "running", "running"],
  ["queued", "queued", "waiting"],
  ["waiting", "waiting", "waiting"],
];

/** Those that are there: what has ended first. */
export function segments(progress: Progress): readonly Segment[] {
  return SEGMENTS.map(([key, name, tone]) => ({ name, tone, count: progress[key] })).filter(
    ({ count }) => count > 0,
  );
}

/** `1 done, 2 running`. */
export function inCounts(progress: Progress): string {
  return segments(progress)
    .map(({ name, count }) => `${count} ${name}`)
    .join(", ");
}

/** How many ended in a way that a person can have tried again. */
export function lost({ failed, timedOut, conflicted, cancelled }: Progress): number {
  return failed + timedOut + conflicted + cancelled;
}

/** `1 needs you`, `2 need you`. */
export function needYou(count: number): string {
  return `${count} ${count === 1 ? "needs" : "need"} you`;
}

/** What became of it, in a sentence. */
export function outcome({ status, progress }: BatchHead): string {
  const { total, completed } = progress;
  if (status === "cancelled") return "It was cancelled";
  if (completed === total) return total === 1 ? "It is done" : `All ${total} are done`;
  if (completed === 0) return total === 1 ? "It is not done" : "None of them is done";
  return `${completed} of ${total} ${completed === 1 ? "is" : "are"} done`;
}
