/* Status texts, counts and prompts of a batch. Pure, except for the hook. */

import { useQuery } from "@tanstack/react-query";
import { useShallow } from "zustand/react/shallow";
import { api, unwrap } from "../api/client";
import type { BatchStatus, BatchSummary, Progress, Run, Task } from "../api/types";
import { pluralize } from "../model/format";
import { useBoard } from "../store/board";

const OPEN_STATUSES: ReadonlySet<BatchStatus> = new Set(["pending", "running", "paused", "merging"]);

export function isOpen({ status }: Pick<BatchSummary, "status">): boolean {
  return OPEN_STATUSES.has(status);
}

/** What a batch needs from a person. */
interface BatchPrompt {
  /** How many of its tasks wait for a person. */
  readonly count: number;
  /** The next task of a queue, if it waits for approval. */
  readonly approval: Run | null;
}

const NO_PROMPT: BatchPrompt = { count: 0, approval: null };

const promptCache = new WeakMap<ReadonlyMap<string, Task>, ReadonlyMap<string, BatchPrompt>>();

/** By batch; computed once per state of the tasks. */
export function promptsByBatch(tasks: ReadonlyMap<string, Task>): ReadonlyMap<string, BatchPrompt> {
  const cached = promptCache.get(tasks);
  if (cached !== undefined) return cached;
  const found = new Map<string, BatchPrompt>();
  for (const { batch: run } of tasks.values()) {
    if (run?.waiting) found.set(run.batchId, addRun(found.get(run.batchId) ?? NO_PROMPT, run));
  }
  promptCache.set(tasks, found);
  return found;
}

function collectPrompt(runs: readonly Run[]): BatchPrompt {
  return runs.reduce(addRun, NO_PROMPT);
}

function addRun(prompt: BatchPrompt, run: Run): BatchPrompt {
  return {
    count: prompt.count + (run.needsYou ? 1 : 0),
    approval: prompt.approval ?? (run.waiting === "approval" ? run : null),
  };
}

/** That it is paused, and why; `null` if it isn't. */
export function describePause({ status, reason }: Pick<BatchSummary, "status" | "reason">): string | null {
  if (status !== "paused") return null;
  if (/^(paused|stopped) /.test(reason)) return `${reason.charAt(0).toUpperCase()}${reason.slice(1)}`;
  return reason === "" ? "Paused" : `Paused: ${reason}`;
}

/** As it is written in the settings: `20usd 500ktok`. */
export function formatBudget(budget: BatchSummary["settings"]["budget"]): string {
  const { usd, tokens } = budget ?? { usd: null, tokens: null };
  const [unit, size] =
    tokens !== null && tokens % 1000 === 0 ? (["ktok", 1000] as const) : (["tok", 1] as const);
  return [usd !== null && `${usd}usd`, tokens !== null && `${tokens / size}${unit}`]
    .filter(Boolean)
    .join(" ");
}

type Tone = "done" | "running" | "waiting" | "failed" | "stopped";

interface Segment {
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

/** The non-zero counts, ended tasks first. */
export function segments(progress: Progress): readonly Segment[] {
  return SEGMENTS.map(([key, name, tone]) => ({ name, tone, count: progress[key] })).filter(
    ({ count }) => count > 0,
  );
}

/** `1 done, 2 running`. */
export function formatCounts(progress: Progress): string {
  return segments(progress)
    .map(({ name, count }) => `${count} ${name}`)
    .join(", ");
}

/** How many ended in a way that can be retried. */
export function countRetryable({ failed, timedOut, conflicted, cancelled }: Progress): number {
  return failed + timedOut + conflicted + cancelled;
}

/** `1 needs you`, `2 need you`. */
export function formatNeedsYou(count: number): string {
  return `${count} ${count === 1 ? "needs" : "need"} you`;
}

export interface Outcome {
  readonly text: string;
  readonly tone: "done" | "partial" | "failed" | "stopped";
}

/** What became of an ended batch: `28 tasks · 23 merged, 5 not`, `shipped`. */
export function describeOutcome({ status, shipped, progress }: OutcomeFacts): Outcome {
  const { total, completed } = progress;
  if (status === "cancelled") return { text: "cancelled", tone: "stopped" };
  const tasks = pluralize(total, "task");
  if (completed === total) {
    return { text: `${tasks} ${shipped === null ? "merged" : "shipped"}`, tone: "done" };
  }
  if (completed === 0) return { text: `${tasks} · none merged`, tone: "failed" };
  const done = shipped === null ? "merged" : "shipped";
  return { text: `${tasks} · ${completed} ${done}, ${total - completed} not`, tone: "partial" };
}

type OutcomeFacts = Pick<BatchSummary, "status" | "shipped" | "progress">;

/**
 * Entrants of a contest, and tasks that left their source, are not on the board: if no task of a queue is
 * known to wait or run, the batch itself is fetched.
 */
export function useBatchPrompt(batch: BatchSummary): BatchPrompt {
  const known = useBoard(
    useShallow((store) => ({ ...NO_PROMPT, ...promptsByBatch(store.board.tasks).get(batch.id) })),
  );
  const hasWaiting = useBoard((store) => promptsByBatch(store.board.tasks).has(batch.id));
  const { running, queued, waiting } = batch.progress;
  const unknown = batch.status === "paused" ? !hasWaiting : batch.mode === "queue" && known.approval === null;
  const shouldAsk = unknown && running === 0 && queued + waiting > 0;
  const { data } = useQuery({
    queryKey: ["batch", batch.id, "asked"],
    queryFn: ({ signal }) => fetchPrompt(batch.id, signal),
    enabled: isOpen(batch) && shouldAsk,
  });
  return shouldAsk && data !== undefined ? data : known;
}

async function fetchPrompt(batchId: string, signal: AbortSignal): Promise<BatchPrompt> {
  const path = { batch_id: batchId };
  const { tasks } = await unwrap(api.GET("/api/batches/{batch_id}", { signal, params: { path } }));
  const open = { batchId, shipped: false, review: false };
  return collectPrompt(tasks.filter((task) => task.waiting !== null).map((task) => ({ ...task, ...open })));
}
