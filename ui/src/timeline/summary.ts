/* A timeline in one line: how long, how long one after another, who waited longest. Pure. */

import type { Timeline } from "../api/types";
import { formatDuration, pluralize } from "../model/format";
import type { Chart } from "./layout";

export interface Summary {
  /** Seconds. */
  readonly wall: number;
  /** Of all attempts together. */
  readonly worked: number;
  readonly wait: { readonly task: string; readonly seconds: number } | null;
  readonly retries: number;
}

export function summarizeTimeline(line: Timeline, { from, to, now, rows }: Chart): Summary {
  const start = line.startedAt === null ? from : Date.parse(line.startedAt);
  const end = line.completedAt === null ? (now ?? to) : Date.parse(line.completedAt);
  const attempts = rows.flatMap(({ bars }) => bars.filter(({ span }) => span.kind !== "merge"));
  const waits = rows.flatMap(({ task, gaps }) =>
    gaps.map((gap) => ({ task, seconds: (Math.min(gap.to, end) - gap.from) / 1000 })),
  );
  return {
    wall: Math.max(0, end - start) / 1000,
    worked: attempts.reduce((sum, bar) => sum + (bar.to - bar.from) / 1000, 0),
    wait: waits.reduce<Summary["wait"]>(
      (most, each) => (each.seconds > (most?.seconds ?? 0) ? each : most),
      null,
    ),
    retries: line.tasks.reduce((sum, task) => sum + task.retries.length, 0),
  };
}

export function formatSummary({ wall, worked, wait, retries }: Summary): string {
  const [wallText, workedText] = [formatDuration(wall), formatDuration(worked)];
  const times =
    worked > wall && wallText !== workedText
      ? `${wallText} instead of ${workedText} one after another`
      : wallText;
  return [
    times,
    wait !== null && wait.seconds >= 1 && `longest wait ${formatDuration(wait.seconds)} (${wait.task})`,
    pluralize(retries, "retry", "retries"),
  ]
    .filter(Boolean)
    .join(" · ");
}
