/* Bars and gaps of a batch's timeline, and keyboard navigation between them. Pure; now is passed in.

   Law: nothing ends before it starts, whatever the clocks say, and what is open extends to now. */

import type { TaskStatus, Timeline } from "../api/types";
import { openEnd } from "./axis";
import { createTimeScale, type TimeScale } from "./timeScale";

type Span = Timeline["spans"][number];
type TaskTimeline = Timeline["tasks"][number];
type Retry = TaskTimeline["retries"][number];

export interface Bar {
  readonly key: string;
  readonly from: number;
  readonly to: number;
  /** It has not ended. */
  readonly open: boolean;
  readonly span: Span;
  /** The retry that followed, if any. */
  readonly retry: Retry | null;
}

export interface Gap {
  readonly from: number;
  readonly to: number;
  readonly open: boolean;
  /** A wait until an instant after a failure; otherwise a wait for its turn. */
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
  /** Now, if anything is open; `null` otherwise. */
  readonly now: number | null;
  readonly scale: TimeScale;
  readonly batchBars: readonly Bar[];
  /** By start; tasks that have not started are last. */
  readonly rows: readonly Row[];
}

/** `null`: nothing has started. */
export function buildChart(line: Timeline, clock: number): Chart | null {
  const known = listInstants(line);
  if (known.length === 0) return null;
  const from = known.reduce((first, at) => Math.min(first, at));
  const last = known.reduce((latest, at) => Math.max(latest, at));
  const running = isRunning(line);
  // The server's clock may be ahead of this one: now is never before what has happened.
  const now = Math.max(clock, last);
  const rows = sortByStart(line.tasks.map((course) => buildRow(course, now)));
  const batchBars = line.spans.map((span, at) => buildBar(span, at, now, null));
  const planned = rows.flatMap(({ gaps }) => gaps).reduce((latest, { to }) => Math.max(latest, to), last);
  const end = Math.max(running ? now : from + 1000, planned);
  const bars = [...batchBars.filter(({ span }) => span.kind !== "pause"), ...rows.flatMap((row) => row.bars)];
  const busy = running ? [...bars, { from: now, to: now }] : bars;
  const until = createTimeScale({ from, to: end }, busy);
  const to = running ? end + openEnd(0, until.length) - until.length : end;
  const scale = createTimeScale({ from, to }, [...busy, { from: end, to }]);
  return { from, to, now: running ? now : null, scale, batchBars, rows };
}

function sortByStart(rows: readonly Row[]): Row[] {
  const start = ({ bars }: Row) => Math.min(...bars.map(({ from }) => from)); // without bars: infinity
  return rows.toSorted((a, b) => (start(a) === start(b) ? 0 : start(a) - start(b)));
}

export function isRunning({ startedAt, completedAt, spans, tasks }: Timeline): boolean {
  if (startedAt === null) return false;
  if (completedAt === null) return true;
  return [...spans, ...tasks.flatMap((task) => task.spans)].some((span) => span.completedAt === null);
}

function listInstants({ startedAt, completedAt, spans, tasks }: Timeline): number[] {
  const all = [...spans, ...tasks.flatMap((task) => [...task.spans, ...task.waits])];
  return [startedAt, completedAt, ...all.flatMap((each) => [each.startedAt, each.completedAt])]
    .flatMap((each) => (each === null ? [] : [Date.parse(each)]))
    .filter((at) => !Number.isNaN(at));
}

function buildRow({ taskId, title, status, spans, waits, retries }: TaskTimeline, now: number): Row {
  const retryBySpan = matchRetries(spans, retries);
  const bars = spans.map((span, at) => buildBar(span, at, now, retryBySpan.get(span) ?? null));
  const gaps = waits.flatMap((wait) => buildGaps(toRange(wait, now), retries));
  return { task: taskId, title, status: status ?? statusFromBars(bars), bars, gaps };
}

const STATUS_BY_KIND: Partial<Record<Span["kind"], TaskStatus>> = {
  write: "running",
  verify: "verifying",
  merge: "merging",
};

/** For a task that has not ended: what is running. */
function statusFromBars(bars: readonly Bar[]): TaskStatus {
  const open = bars.find((bar) => bar.open);
  return (open && STATUS_BY_KIND[open.span.kind]) ?? "waiting";
}

/** Distributes overlapping bars over as few rows as needed. */
export function packLanes(bars: readonly Bar[]): Bar[][] {
  const found: Bar[][] = [];
  for (const bar of bars.toSorted((a, b) => a.from - b.from)) {
    const free = found.find((lane) => (lane.at(-1)?.to ?? 0) <= bar.from);
    if (free === undefined) found.push([bar]);
    else free.push(bar);
  }
  return found;
}

function buildBar(span: Span, at: number, now: number, retry: Retry | null): Bar {
  return { key: `${span.kind} ${span.n ?? ""} ${at}`, ...toRange(span, now), span, retry };
}

/** A retry belongs to the attempt that ended last before it. */
function matchRetries(spans: readonly Span[], retries: readonly Retry[]): Map<Span, Retry> {
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

function toRange(
  { startedAt, completedAt }: { startedAt: string; completedAt: string | null },
  now: number,
): Range {
  const from = Date.parse(startedAt);
  const to = completedAt === null ? now : Date.parse(completedAt);
  return { from, to: Math.max(from, to), open: completedAt === null };
}

/** A wait, split at the time until which the task was delayed on purpose. */
function buildGaps(wait: Range, retries: readonly Retry[]): Gap[] {
  const retry = retries.findLast((each) => isWithin(Date.parse(each.at), wait));
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

function isWithin(at: number, { from, to, open }: Range): boolean {
  return at >= from - 1000 && (open || at < to);
}

/** 0 is the task's name, then its bars follow. */
export interface Position {
  readonly row: number;
  readonly place: number;
}

const UNBOUNDED = Number.POSITIVE_INFINITY;
const KEY_MOVES: Partial<Record<string, readonly [rows: number, places: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
  PageUp: [-10, 0],
  PageDown: [10, 0],
  Home: [-UNBOUNDED, -UNBOUNDED],
  End: [UNBOUNDED, -UNBOUNDED],
};

/** `null`: the key has no effect. */
export function nextPosition(rows: readonly Pick<Row, "bars">[], at: Position, key: string): Position | null {
  const move = KEY_MOVES[key];
  if (move === undefined) return null;
  const row = Math.max(0, Math.min(rows.length - 1, at.row + move[0]));
  return { row, place: Math.max(0, Math.min(rows[row]?.bars.length ?? 0, at.place + move[1])) };
}
