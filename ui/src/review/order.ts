/* What became of a batch, as a reviewer reads it: what is on its branch, in the order of the merges, and what is not. Pure. */

import type { Batch, BatchTask, Timeline } from "../api/types";

type Course = Timeline["tasks"][number];
type Span = Timeline["spans"][number];

export interface Sorted {
  /** On the branch, first merged first. */
  readonly merged: readonly BatchTask[];
  readonly conflicted: readonly BatchTask[];
  /** Ended without being on the branch. */
  readonly left: readonly BatchTask[];
  /** Not ended yet. */
  readonly coming: readonly BatchTask[];
}

const OPEN: ReadonlySet<BatchTask["status"]> = new Set([
  "queued",
  "waiting",
  "running",
  "verifying",
  "merging",
  "interrupted",
]);

/** Entrants of a contest are never merged: they are not told. */
export function sorted(batch: Pick<Batch, "tasks">, timeline: Timeline | undefined): Sorted {
  const tasks = batch.tasks.filter(({ entrantOf }) => entrantOf === null);
  const places = mergePlaces(timeline);
  const place = (task: BatchTask) => places.get(task.taskId) ?? task.completedAt ?? "";
  const merged = tasks.filter(({ commit }) => commit !== null);
  const rest = tasks.filter(({ commit }) => commit === null);
  return {
    merged: merged.sort((a, b) => (place(a) < place(b) ? -1 : place(a) > place(b) ? 1 : 0)),
    conflicted: rest.filter(({ status }) => status === "conflicted"),
    left: rest.filter(({ status }) => status !== "conflicted" && !OPEN.has(status)),
    coming: rest.filter(({ status }) => OPEN.has(status)),
  };
}

/** When each task was merged last: one that was done again was taken out before. */
function mergePlaces(timeline: Timeline | undefined): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { taskId, spans } of timeline?.tasks ?? []) {
    const last = spans.findLast(({ kind, result }) => kind === "merge" && result === "merged");
    if (last?.completedAt) found.set(taskId, last.completedAt);
  }
  return found;
}

/** Whether its last change was verified; `null`: nothing was to be run, or nobody knows. */
export function verified(course: Course | undefined): boolean | null {
  const last = course?.spans.findLast(({ kind }) => kind === "verify");
  return last === undefined || last.completedAt === null ? null : last.result === "ok";
}

export interface GateSaid {
  readonly state: "none" | "never" | "running" | "passed" | "failed";
  readonly words: string;
  readonly detail: string | null;
}

/** What the gate says of the branch as it is. */
export function gateOf(batch: Pick<Batch, "settings">, timeline: Timeline | undefined): GateSaid {
  if (batch.settings.gate === null)
    return { state: "none", words: "There is no gate: what is merged counts as it is.", detail: null };
  const last = timeline?.spans.findLast(({ kind }) => kind === "gate");
  if (last === undefined) return { state: "never", words: "The gate has not run yet.", detail: null };
  if (last.completedAt === null) return { state: "running", words: "The gate is running.", detail: null };
  if (last.result === "passed")
    return { state: "passed", words: "The gate has passed on what is merged.", detail: last.detail };
  const spans = timeline?.spans ?? [];
  const anew = spans.slice(spans.indexOf(last)).some(({ kind }) => kind === "rebuild");
  if (!anew) return { state: "failed", words: "The gate has failed.", detail: last.detail };
  const before = spans.some(({ kind, result }) => kind === "gate" && result === "passed");
  return before
    ? {
        state: "passed",
        words: "The gate has passed on what is merged. It failed with what was taken out since.",
        detail: null,
      }
    : {
        state: "never",
        words: "The gate failed with what was taken out, and has not run since.",
        detail: null,
      };
}

export interface NumberedGate {
  readonly n: number;
  readonly result: "running" | "passed" | "failed";
}

/** Every gate of the batch, newest first. */
export function gatesOf(timeline: Timeline | undefined): readonly NumberedGate[] {
  const gates = (timeline?.spans ?? []).flatMap(({ kind, n, result, completedAt }): NumberedGate[] =>
    kind !== "gate" || n === null
      ? []
      : [{ n, result: completedAt === null ? "running" : result === "passed" ? "passed" : "failed" }],
  );
  return gates.reverse();
}

/** The branch is being made anew without some tasks. */
export function rebuilding(timeline: Timeline | undefined): boolean {
  const last: Span | undefined = timeline?.spans.findLast(({ kind }) => kind === "rebuild");
  return last !== undefined && last.completedAt === null;
}
