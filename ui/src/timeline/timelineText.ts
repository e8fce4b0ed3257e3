/* Texts about the bars, gaps and totals of a timeline. Pure. */

import type { Timeline } from "../api/types";
import { formatDuration, pluralize } from "../model/format";
import { formatInstant, type Zone } from "./axis";
import type { Bar, Chart, Gap } from "./layout";

type Span = Timeline["spans"][number];

export const KIND_NAMES: Record<Span["kind"], string> = {
  write: "Write",
  verify: "Verify",
  merge: "Merge",
  gate: "Gate",
  pause: "Pause",
  rebuild: "Rebuild",
  publish: "Publish",
};

const END_REASONS: Record<NonNullable<Span["endedFor"]>, string> = {
  cancel: "it was cancelled",
  drop: "the task was dropped",
  blocked: "a task it needs was not done",
  stop: "the batch was stopped",
  timeout: "it took too long",
  idle: "it was idle for too long",
  feedback: "feedback was given",
};

const RESULT_TEXT: Partial<Record<string, string>> = {
  task: "failed",
  verify: "failed verification",
  empty: "changed nothing",
  rate_limit: "rate limited",
  quota: "quota exceeded",
  auth: "not logged in",
  overloaded: "provider overloaded",
  network: "no network",
  context: "context too long",
  usage: "invocation failed",
  timeout: "timed out",
  idle: "idle for too long",
  question: "asked a question",
  conflict: "conflicted",
};

const GOOD_RESULTS: readonly (string | null)[] = ["ok", "merged", "passed", "done"];

/** The result, for colour and pattern; a text shows it too. */
type BarTone = "open" | "good" | "bad" | "plain";

export function barTone({ span, open }: Bar): BarTone {
  if (open) return "open";
  if (span.kind === "pause") return "plain";
  return GOOD_RESULTS.includes(span.result)
    ? "good"
    : span.result === null || span.result === "question"
      ? "plain"
      : "bad";
}

function resultText({ span, open }: Bar): string | null {
  if (open) return "running";
  return span.result === null ? null : (RESULT_TEXT[span.result] ?? span.result.replaceAll("_", " "));
}

export function describeBar(bar: Bar, zone: Zone): string {
  const { span, from, to, open, retry } = bar;
  const kind = [
    KIND_NAMES[span.kind],
    span.n !== null && `attempt ${span.n}`,
    span.agent !== null && `by ${span.agent}`,
  ];
  const when = open
    ? `since ${formatInstant(from, zone)}`
    : `from ${formatInstant(from, zone)} to ${formatInstant(to, zone, from)}`;
  const how = [resultText(bar), formatDuration((to - from) / 1000), when];
  const more = [
    span.endedFor !== null && `Stopped by plait: ${END_REASONS[span.endedFor]}`,
    span.detail,
    retry !== null && `Retry not before ${formatInstant(Date.parse(retry.retryAt), zone, to)}: ${retry.why}`,
  ];
  return [`${joinParts(kind, ", ")}: ${joinParts(how, ", ")}`, ...more.filter(Boolean)].join(". ");
}

export function describeGap({ from, to, open, backoff }: Gap, zone: Zone): string {
  if (backoff !== null)
    return `Backing off until ${formatInstant(Date.parse(backoff.retryAt), zone, from)}: ${backoff.why}`;
  const long = formatDuration((to - from) / 1000);
  return open
    ? `Waiting for ${long}, since ${formatInstant(from, zone)}`
    : `Waited ${long}, until ${formatInstant(to, zone, from)}`;
}

function joinParts(parts: readonly (string | false | null)[], between: string): string {
  return parts.filter(Boolean).join(between);
}

interface Summary {
  /** Seconds from its start to its end, or to now. */
  readonly wall: number;
  readonly ended: boolean;
  readonly wait: { readonly task: string; readonly seconds: number } | null;
  readonly retries: number;
}

export function summarizeTimeline(line: Timeline, { from, to, now, rows }: Chart): Summary {
  const start = line.startedAt === null ? from : Date.parse(line.startedAt);
  const end = line.completedAt === null ? (now ?? to) : Date.parse(line.completedAt);
  const waits = rows.flatMap(({ task, gaps }) =>
    gaps.map((gap) => ({ task, seconds: (Math.min(gap.to, end) - gap.from) / 1000 })),
  );
  return {
    wall: Math.max(0, end - start) / 1000,
    ended: line.completedAt !== null,
    wait: waits.reduce<Summary["wait"]>(
      (most, each) => (each.seconds > (most?.seconds ?? 0) ? each : most),
      null,
    ),
    retries: line.tasks.reduce((sum, task) => sum + task.retries.length, 0),
  };
}

/** How long it took, with all waits; how long agents worked is above, in the batch's facts. */
export function formatSummary({ wall, ended, wait, retries }: Summary): string {
  return [
    `${formatDuration(wall)} from start to ${ended ? "end" : "now"}`,
    wait !== null && wait.seconds >= 1 && `longest wait ${formatDuration(wait.seconds)} (${wait.task})`,
    pluralize(retries, "retry", "retries"),
  ]
    .filter(Boolean)
    .join(" · ");
}
