/* An attempt in words. Pure. */

import type { Explanation } from "../api/types";
import { formatDuration, secondsBetween } from "../model/format";

export type Attempt = Explanation["attempts"][number];
type Category = NonNullable<Attempt["category"]>;

const CATEGORY_TEXT: Record<Category, string> = {
  ok: "passed",
  task: "failed",
  verify: "verification failed",
  empty: "changed nothing",
  rate_limit: "rate limit",
  quota: "quota used up",
  auth: "not logged in",
  overloaded: "provider overloaded",
  network: "network failed",
  context: "context too long",
  usage: "could not be called",
  killed: "killed",
  lost: "lost",
  timeout: "timed out",
  idle: "said nothing for too long",
  question: "asked a question",
  conflict: "conflict",
  merge: "could not be merged",
  gate: "gate failed",
};

/** `write 2`, as people call it. */
export function attemptName({ step, attempt }: Pick<Attempt, "step" | "attempt">): string {
  return `${step} ${attempt}`;
}

/** How it ended: `passed`, `failed, exit 2`, `cancelled`; `at work` while it does not. */
export function describeResult({ category, exitCode, endedFor, completedAt }: Attempt): string {
  if (completedAt === null) return endedFor === null ? "at work" : `ending: ${endedFor}`;
  const text = endedFor ?? (category === null ? "ended" : CATEGORY_TEXT[category]);
  return exitCode !== null && exitCode !== 0 ? `${text}, exit ${exitCode}` : text;
}

export function attemptDuration({ startedAt, completedAt }: Attempt, now: number): string {
  return formatDuration(secondsBetween(startedAt, completedAt, now));
}

/** The newest one of a step. */
export function newestAttempt<T extends Attempt>(
  attempts: readonly T[],
  step: Attempt["step"],
): T | undefined {
  return attempts.findLast((each) => each.step === step);
}

/** A line about an attempt that has ended: how, after how long, and what was said of it. */
export function describeEnd(attempt: Attempt): string {
  const parts = [describeResult(attempt), attemptDuration(attempt, 0), attempt.detail].filter(Boolean);
  return attempt.completedAt === null ? "at work" : parts.join(" · ");
}
