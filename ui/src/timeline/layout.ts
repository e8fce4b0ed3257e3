/* What stands on the timeline of a batch, and from when to when. Pure; now is given.

   Law: nothing ends before it begins, whatever clocks say, and what is not over reaches to now. */

import type { TaskStatus, Timeline } from "../api/types";
import { horizon } from "./axis";

type Span = Timeline["spans"][number];
type Course = Timeline["tasks"][number];
type Retry = Course["retries"][number];

export interface Bar {
  readonly key: string;
  readonly from: number;
  readonly to: number;
  /** It is not over. */
  readonly open: boolean;
  readonly span: Span;
  /** That it was followed by, if another attempt was. */
  readonly retry: Retry | null;
}

export interface Gap {
  readonly from: number;
  readonly to: number;
  readonly open: boolean;
  /** Not before an instant, as an attempt failed; otherwise its turn was missing. */
  readonly backoff: Retry | null;
}

export interface Row {
  readonly task: string;
  readonly title: string;
  readonly status: TaskStatus;
  readonly bars: readonly Bar[];
  readonly gaps: readonly Gap[];
}

export interface Chart {
  readonly from: number;
  readonly to: number;
  /** Now, as far as anything is not over; `null` otherwise. */
  readonly now: number | null;
  readonly own: readonly Bar[];
  readonly rows: readonly Row[];
}

/** `null`: nothing has begun. */
export function chartOf(line: Timeline, clock: number): Chart | null {
  const known = instants(line);
  if (known.length === 0) return null;
  const from = known.reduce((first, at) => Math.min(first, at));
  const last = known.reduce((latest, at) => Math.max(latest, at));
  const running = isRunning(line);
  // The server's clock may be ahead of this one: now is never before what has happened.
  const now = Math.max(clock, last);
  const rows = line.tasks.map((course) => rowOf(course, now));
  const planned = rows.flatMap(({ gaps }) => gaps).reduce((latest, { to }) => Math.max(latest, to), last);
  const to = running ? horizon(from, Math.max(now, planned)) : Math.max(planned, from + 1000);
  return {
    from,
    to,
    now: running ? now : null,
    own: line.spans.map((span, at) => barOf(span, at, now, null)),
    rows,
  };
}

export function isRunning({ startedAt, completedAt, spans, tasks }: Timeline): boolean {
  if (startedAt === null) return false;
  if (completedAt === null) return true;
  return [...spans, ...tasks.flatMap((task) => task.spans)].some((span) => span.completedAt === null);
}

function instants({ startedAt, completedAt, spans, tasks }: Timeline): number[] {
  const all = [...spans, ...tasks.flatMap((task) => [...task.spans, ...task.waits])];
  return [startedAt, completedAt, ...all.flatMap((each) => [each.startedAt, each.completedAt])]
    .flatMap((each) => (each === null ? [] : [Date.parse(each)]))
    .filter((at) => !Number.isNaN(at));
}

function rowOf({ taskId, title, status, spans, waits, retries }: Course, now: number): Row {
  const after = retried(spans, retries);
  const bars = spans.map((span, at) => barOf(span, at, now, after.get(span) ?? null));
  const gaps = waits.flatMap((wait) => gapsOf(range(wait, now), retries));
  return { task: taskId, title, status: status ?? standing(bars), bars, gaps };
}

const STEPS: Partial<Record<Span["kind"], TaskStatus>> = {
  write: "running",
  verify: "verifying",
  merge: "merging",
};

/** Of one that has not ended: what is at work on it. */
function standing(bars: readonly Bar[]): TaskStatus {
  const open = bars.find((bar) => bar.open);
  return (open && STEPS[open.span.kind]) ?? "waiting";
}

/** One row for all that is not at the same time, and as many rows as it takes. */
export function lanes(bars: readonly Bar[]): Bar[][] {
  const found: Bar[][] = [];
  for (const bar of bars.toSorted((a, b) => a.from - b.from)) {
    const free = found.find((lane) => (lane.at(-1)?.to ?? 0) <= bar.from);
    if (free === undefined) found.push([bar]);
    else free.push(bar);
  }
  return found;
}

function barOf(span: Span, at: number, now: number, retry: Retry | null): Bar {
  return { key: `${span.kind} ${span.n ?? ""} ${at}`, ...range(span, now), span, retry };
}

/** A retry is for what had ended last when it was granted. */
function retried(spans: readonly Span[], retries: readonly Retry[]): Map<Span, Retry> {
  const found = new Map<Span, Retry>();
  const end = (span: Span) =>
    span.completedAt === null ? Number.POSITIVE_INFINITY : Date.parse(span.completedAt);
  for (const retry of retries) {
    const over = spans.filter((span) => end(span) <= Date.parse(retry.at));
    const last = over.reduce<Span | null>(
      (best, span) => (best && end(best) > end(span) ? best : span),
      null,
    );
    if (last !== null) found.set(last, retry);
  }
  return found;
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly open: boolean;
}

function range(
  { startedAt, completedAt }: { startedAt: string; completedAt: string | null },
  now: number,
): Range {
  const from = Date.parse(startedAt);
  const to = completedAt === null ? now : Date.parse(completedAt);
  return { from, to: Math.max(from, to), open: completedAt === null };
}

/** A wait, and the part of it in which the task was held back on purpose; that reaches to the instant it is until. */
function gapsOf(wait: Range, retries: readonly Retry[]): Gap[] {
  const retry = retries.findLast((each) => within(Date.parse(each.at), wait));
  if (retry === undefined) return [{ ...wait, backoff: null }];
  const begins = Math.max(wait.from, Date.parse(retry.at));
  const until = Math.max(begins, Date.parse(retry.retryAt));
  const ends = wait.open ? until : Math.min(until, wait.to);
  const gaps: Gap[] = [
    { from: wait.from, to: begins, open: false, backoff: null },
    { from: begins, to: ends, open: wait.open && until >= wait.to, backoff: retry },
    { from: ends, to: Math.max(ends, wait.to), open: wait.open, backoff: null },
  ];
  return gaps.filter(({ from, to }) => to > from);
}

function within(at: number, { from, to, open }: Range): boolean {
  return at >= from - 1000 && (open || at < to);
}
