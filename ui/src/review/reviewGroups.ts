/* Groups the tasks of a batch for review, and describes its gate. Pure. */

import type { Batch, BatchTask, MergedChanges, Timeline } from "../api/types";
import { formatCost, formatDiffstat, joinNames, pluralize } from "../model/format";

type TaskTimeline = Timeline["tasks"][number];
type Span = Timeline["spans"][number];

interface ReviewGroups {
  /** On the branch, in merge order. */
  readonly merged: readonly BatchTask[];
  readonly conflicted: readonly BatchTask[];
  /** Ended without being on the branch. */
  readonly unmerged: readonly BatchTask[];
  /** Not ended yet. */
  readonly pending: readonly BatchTask[];
}

const UNFINISHED: ReadonlySet<BatchTask["status"]> = new Set([
  "queued",
  "waiting",
  "running",
  "verifying",
  "merging",
  "interrupted",
]);

/** Entrants of a contest are never merged, and are left out. */
export function groupTasks(batch: Pick<Batch, "tasks">, timeline: Timeline | undefined): ReviewGroups {
  const tasks = batch.tasks.filter(({ entrantOf }) => entrantOf === null);
  const mergeTimes = lastMergeTimes(timeline);
  const mergeTime = (task: BatchTask) => mergeTimes.get(task.taskId) ?? task.completedAt ?? "";
  const merged = tasks.filter(({ commit }) => commit !== null);
  const rest = tasks.filter(({ commit }) => commit === null);
  return {
    merged: merged.sort((a, b) => (mergeTime(a) < mergeTime(b) ? -1 : mergeTime(a) > mergeTime(b) ? 1 : 0)),
    conflicted: rest.filter(({ status }) => status === "conflicted"),
    unmerged: rest.filter(({ status }) => status !== "conflicted" && !UNFINISHED.has(status)),
    pending: rest.filter(({ status }) => UNFINISHED.has(status)),
  };
}

/** When each task was last merged; a retried one may have been merged before. */
function lastMergeTimes(timeline: Timeline | undefined): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const { taskId, spans } of timeline?.tasks ?? []) {
    const last = spans.findLast(({ kind, result }) => kind === "merge" && result === "merged");
    if (last?.completedAt) found.set(taskId, last.completedAt);
  }
  return found;
}

/** Whether its last change was verified; `null` if unknown or not required. */
export function isVerified(taskTimeline: TaskTimeline | undefined): boolean | null {
  const last = taskTimeline?.spans.findLast(({ kind }) => kind === "verify");
  return last === undefined || last.completedAt === null ? null : last.result === "ok";
}

/** What the merged tasks changed, all together, and cost: `+120 −8 in 9 files · 3 tasks · $1.20`. */
export function describeTotals(merged: readonly BatchTask[], files: number | undefined): string {
  const changes = merged.flatMap(({ diffstat }) => (diffstat === null ? [] : [diffstat]));
  const added = changes.reduce((sum, change) => sum + change.added, 0);
  const removed = changes.reduce((sum, change) => sum + change.removed, 0);
  const cost = formatCost({
    usd: merged.reduce((sum, task) => sum + task.cost.usd, 0),
    tokens: merged.reduce((sum, task) => sum + task.cost.tokens, 0),
  });
  const lines = formatDiffstat({ files: 0, added, removed });
  return [
    files === undefined ? lines : `${lines} in ${pluralize(files, "file")}`,
    pluralize(merged.length, "task"),
    cost,
  ]
    .filter(Boolean)
    .join(" · ");
}

interface Suggestion {
  readonly taskId: string;
  /** Why it is worth reading first. */
  readonly reasons: readonly string[];
}

const MAX_SUGGESTIONS = 3;
const LARGE_LINES = 100; // fewer are read quickly
const LARGE_SHARE = 2; // times the median
const MANY_ATTEMPTS = 3;

/** The merged tasks to read first, the one with most reasons first: the first merge is no better a place to start. */
export function suggestReading(
  merged: readonly BatchTask[],
  timeline: Timeline | undefined,
  changes: MergedChanges | undefined,
): readonly Suggestion[] {
  if (merged.length < 2) return [];
  const timelines = new Map(timeline?.tasks.map((taskTimeline) => [taskTimeline.taskId, taskTimeline]));
  const changesById = new Map(changes?.tasks.map((change) => [change.taskId, change]));
  const mostVerified =
    2 * merged.filter(({ taskId }) => isVerified(timelines.get(taskId)) === true).length >= merged.length;
  const someHaveTests = merged.some(({ taskId }) => changesById.get(taskId)?.withoutTests === false);
  const sizes = merged.map(countLines).sort((a, b) => a - b);
  const median = sizes[Math.floor((sizes.length - 1) / 2)] ?? 0;
  const found = merged.map((task) => {
    const spans = timelines.get(task.taskId)?.spans ?? [];
    const change = changesById.get(task.taskId);
    const undeclared = change?.undeclared ?? [];
    const lines = countLines(task);
    const reasons = [
      lines >= LARGE_LINES && lines >= LARGE_SHARE * median && `${pluralize(lines, "line")} changed`,
      spans.some(({ kind, result }) => kind === "merge" && result === "conflicted") && "conflicted before",
      task.attempt >= MANY_ATTEMPTS && `needed ${task.attempt} attempts`,
      mostVerified && isVerified(timelines.get(task.taskId)) === null && "not verified",
      someHaveTests && change?.withoutTests === true && "no tests changed",
      undeclared.length > 0 &&
        `changes ${undeclared.length === 1 ? "a file" : "files"} it didn't declare: ${joinNames(undeclared)}`,
    ].filter((reason) => reason !== false);
    return { taskId: task.taskId, reasons, lines };
  });
  return found
    .filter(({ reasons }) => reasons.length > 0)
    .sort((a, b) => b.reasons.length - a.reasons.length || b.lines - a.lines)
    .slice(0, MAX_SUGGESTIONS)
    .map(({ taskId, reasons }) => ({ taskId, reasons }));
}

function countLines({ diffstat }: BatchTask): number {
  return diffstat === null ? 0 : diffstat.added + diffstat.removed;
}

interface GateStatus {
  readonly state: "none" | "never" | "running" | "passed" | "failed";
  readonly text: string;
  readonly detail: string | null;
}

/** The gate's result for the current branch. */
export function gateStatus(batch: Pick<Batch, "settings">, timeline: Timeline | undefined): GateStatus {
  if (batch.settings.gate === null) return { state: "none", text: "No gate is configured.", detail: null };
  const last = timeline?.spans.findLast(({ kind }) => kind === "gate");
  if (last === undefined) return { state: "never", text: "The gate has not run yet.", detail: null };
  if (last.completedAt === null) return { state: "running", text: "The gate is running.", detail: null };
  if (last.result === "passed")
    return { state: "passed", text: "The gate passed on the merged result.", detail: last.detail };
  const spans = timeline?.spans ?? [];
  const rebuilt = spans.slice(spans.indexOf(last)).some(({ kind }) => kind === "rebuild");
  if (!rebuilt) return { state: "failed", text: "The gate failed.", detail: last.detail };
  const passedBefore = spans.some(({ kind, result }) => kind === "gate" && result === "passed");
  return passedBefore
    ? {
        state: "passed",
        text: "The gate passed on the merged result. It failed with changes that were dropped since.",
        detail: null,
      }
    : {
        state: "never",
        text: "The gate failed with changes that were dropped, and has not run since.",
        detail: null,
      };
}

export interface NumberedGate {
  readonly n: number;
  readonly result: "running" | "passed" | "failed";
}

/** Every gate of the batch, newest first. */
export function listGates(timeline: Timeline | undefined): readonly NumberedGate[] {
  const gates = (timeline?.spans ?? []).flatMap(({ kind, n, result, completedAt }): NumberedGate[] =>
    kind !== "gate" || n === null
      ? []
      : [{ n, result: completedAt === null ? "running" : result === "passed" ? "passed" : "failed" }],
  );
  return gates.reverse();
}

/** Whether the branch is being rebuilt without some tasks. */
export function isRebuilding(timeline: Timeline | undefined): boolean {
  const last: Span | undefined = timeline?.spans.findLast(({ kind }) => kind === "rebuild");
  return last !== undefined && last.completedAt === null;
}
