/* An attempt in words. Pure. */

import type { Explanation } from "../api/types";
import { duration, elapsed } from "../model/format";

export type Try = Explanation["attempts"][number];
type Category = NonNullable<Try["category"]>;

const WORDS: Record<Category, string> = {
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
export function nameOf({ step, attempt }: Pick<Try, "step" | "attempt">): string {
  return `${step} ${attempt}`;
}

/** How it ended: `passed`, `failed, exit 2`, `cancelled`; `at work` while it does not. */
export function outcome({ category, exitCode, endedFor, completedAt }: Try): string {
  if (completedAt === null) return endedFor === null ? "at work" : `ending: ${endedFor}`;
  const word = endedFor ?? (category === null ? "ended" : WORDS[category]);
  return exitCode !== null && exitCode !== 0 ? `${word}, exit ${exitCode}` : word;
}

export function lasted({ startedAt, completedAt }: Try, now: number): string {
  return duration(elapsed(startedAt, completedAt, now));
}

/** The newest one of a step. */
export function newest<T extends Try>(attempts: readonly T[], step: Try["step"]): T | undefined {
  return attempts.findLast((each) => each.step === step);
}

/** A line about an attempt that has ended: how, after how long, and what was said of it. */
export function ending(made: Try): string {
  const words = [outcome(made), lasted(made, 0), made.detail].filter(Boolean);
  return made.completedAt === null ? "at work" : words.join(" · ");
}
