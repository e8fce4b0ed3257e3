/* Texts about attempts, and which attempt is selected. */

import { create } from "zustand";
import type { ConversationEntry, Explanation } from "../api/types";
import { formatDuration, secondsBetween } from "../model/format";

export type Attempt = Explanation["attempts"][number];
type Category = NonNullable<Attempt["category"]>;

const CATEGORY_TEXT: Record<Category, string> = {
  ok: "passed",
  task: "failed",
  verify: "verification failed",
  empty: "changed nothing",
  rate_limit: "rate limit",
  quota: "quota exceeded",
  auth: "not logged in",
  overloaded: "provider overloaded",
  network: "network failed",
  context: "context too long",
  usage: "invocation failed",
  killed: "killed",
  lost: "lost",
  outage: "cut off",
  timeout: "timed out",
  idle: "idle for too long",
  question: "asked a question",
  conflict: "conflict",
  commit: "result not committed",
  merge: "could not be merged",
  gate: "gate failed",
  rejected: "rejected by the judges",
};

/** The label of an attempt: `write 2`. */
export function attemptName({ step, attempt }: Pick<Attempt, "step" | "attempt">): string {
  return `${step} ${attempt}`;
}

/** `Attempt 2`, `Verification 1`. */
export function attemptTitle({ step, attempt }: Pick<Attempt, "step" | "attempt">): string {
  return `${step === "verify" ? "Verification" : step === "merge" ? "Merge" : "Attempt"} ${attempt}`;
}

/** How it ended: `passed`, `failed, exit 2`, `cancelled`; `at work` while it runs. */
export function describeResult({ category, exitCode, endedFor, completedAt }: Attempt): string {
  if (completedAt === null) return endedFor === null ? "running" : `stopping: ${endedFor}`;
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

/** Why it failed, without the exit status, which its result says. */
export function describeFailure({ detail, exitCode }: Attempt): string {
  return detail?.replace(`exit status ${exitCode}: `, "") ?? "";
}

/** A line about an ended attempt: result, duration and reason. */
export function describeEnd(attempt: Attempt): string {
  const parts = [describeResult(attempt), attemptDuration(attempt, 0), describeFailure(attempt)];
  return attempt.completedAt === null ? "running" : parts.filter(Boolean).join(" · ");
}

export interface SelectedAttempt {
  readonly step: "write" | "verify";
  readonly attempt: number | null;
}

export const NEWEST_ATTEMPT: SelectedAttempt = { step: "write", attempt: null };

export const useSelectedAttempt = create<SelectedAttempt>(() => NEWEST_ATTEMPT);

/** Whether it has output; a merge has none. */
export function hasTranscript(attempt: Attempt): attempt is Attempt & { step: SelectedAttempt["step"] } {
  return attempt.step !== "merge";
}

/** Whether there is a diff of it; also of one that failed, which has no commit. */
export function hasChange({ step, commit, diffstat }: Attempt): boolean {
  return step === "write" && (commit !== null || (diffstat?.files ?? 0) > 0);
}

/** The diff to show: of one attempt, since an earlier one, or of a person's resolution; the task's where all are `null`. */
export interface SelectedDiff {
  readonly attempt: number | null;
  readonly since: number | null;
  readonly resolution: number | null;
}

export const NEWEST_DIFF: SelectedDiff = { attempt: null, since: null, resolution: null };

interface DiffOption extends SelectedDiff {
  readonly title: string;
}

/** All diffs that can be shown: resolutions, then attempts, the newest first; of one attempt without changes there is none. */
export function diffOptions(
  attempts: readonly Attempt[],
  entries: readonly Pick<ConversationEntry, "resolution">[],
): DiffOption[] {
  const changed = attempts
    .filter((each) => hasChange(each) || (each.step === "write" && each.completedAt === null))
    .map(({ attempt }) => attempt)
    .reverse();
  if (changed.length === 0) return [];
  const resolved = entries.flatMap(({ resolution }) => (resolution === null ? [] : [resolution.resolution]));
  return [
    { ...NEWEST_DIFF, title: "Result of the task" },
    ...resolved.reverse().map((resolution) => ({
      ...NEWEST_DIFF,
      resolution,
      title: resolved.length === 1 ? "Resolved conflict" : `Resolved conflict ${resolution}`,
    })),
    ...changed.flatMap((attempt, place) => {
      const since = changed[place + 1] ?? null;
      const own = { ...NEWEST_DIFF, attempt, title: `Attempt ${attempt}` };
      return since === null
        ? [own]
        : [{ ...own, since, title: `Attempt ${attempt} since attempt ${since}` }, own];
    }),
  ];
}

export function isSameDiff(a: SelectedDiff, b: SelectedDiff): boolean {
  return a.attempt === b.attempt && a.since === b.since && a.resolution === b.resolution;
}

export const useSelectedDiff = create<SelectedDiff>(() => NEWEST_DIFF);

export function selectDiff(diff: SelectedDiff): void {
  useSelectedDiff.setState(diff);
}

export function selectAttempt(attempt: Attempt): void {
  if (hasTranscript(attempt)) useSelectedAttempt.setState({ step: attempt.step, attempt: attempt.attempt });
}
