/* A timeline in one line: how long, how long one after another, who waited longest. Pure. */

import type { Timeline } from "../api/types";
import { count, duration } from "../model/format";
import type { Chart } from "./layout";

export interface Summary {
  /** Seconds. */
  readonly wall: number;
  /** Of all attempts together. */
  readonly worked: number;
  readonly wait: { readonly task: string; readonly seconds: number } | null;
  readonly retries: number;
}

export function summaryOf(line: Timeline, { from, to, now, rows }: Chart): Summary {
  const begun = line.startedAt === null ? from : Date.parse(line.startedAt);
  const end = line.completedAt === null ? (now ?? to) : Date.parse(line.completedAt);
  const attempts = rows.flatMap(({ bars }) => bars.filter(({ span }) => span.kind !== "merge"));
  const waits = rows.flatMap(({ task, gaps }) =>
    gaps.map((gap) => ({ task, seconds: (Math.min(gap.to, end) - gap.from) / 1000 })),
  );
  return {
    wall: Math.max(0, end - begun) / 1000,
    worked: attempts.reduce((sum, bar) => sum + (bar.to - bar.from) / 1000, 0),
    wait: waits.reduce<Summary["wait"]>(
      (most, each) => (each.seconds > (most?.seconds ?? 0) ? each : most),
      null,
    ),
    retries: line.tasks.reduce((sum, task) => sum + task.retries.length, 0),
  };
}

export function summaryWords({ wall, worked, wait, retries }: Summary): string {
  const [long, alone] = [duration(wall), duration(worked)];
  const times = worked > wall && long !== alone ? `${long} instead of ${alone} one after another` : long;
  return [
    times,
    wait !== null && wait.seconds >= 1 && `longest wait ${duration(wait.seconds)} (${wait.task})`,
    count(retries, "retry", "retries"),
  ]
    .filter(Boolean)
    .join(" · ");
}
