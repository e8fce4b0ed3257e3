/* Whether a previewed batch can be started. Pure. */

import { ApiError } from "../api/client";
import type { Plan, Problem } from "../api/types";
import type { PlanPreviewState } from "./usePlan";

/** A sentence: why it can't be started; `null`: it can. */
export function whyNotStart({ plan, error, stale }: Omit<PlanPreviewState, "retry">): string | null {
  if (stale) return "The plan is being worked out.";
  if (error)
    return error instanceof ApiError ? toSentence(error.message) : "The plan could not be worked out.";
  if (plan === undefined) return "The plan is being worked out.";
  const failed = plan.problems.find(({ severity }) => severity === "error");
  if (failed !== undefined) return toSentence(failed.message);
  return plan.tasks.length === 0 ? "There is nothing to do: everything selected is complete." : null;
}

/** Tasks that are needed and not selected are in the way: taking them in, or going without them, helps. */
export function hasMissingNeeds({ problems }: Plan): boolean {
  return problems.some(({ severity, hint }) => severity === "error" && Boolean(hint?.includes("withNeeds")));
}

/** The hint for a person on this page; what the page has a button for needs none. */
export function problemHint({ hint }: Problem): string | null {
  return hint === null || hint.includes("withNeeds") ? null : hint;
}

/** Tries of a contest are no tasks of their own. */
export function countTasks(plan: Plan): number {
  return plan.tasks.filter(({ entrantOf }) => entrantOf === null).length;
}

const SEVERITY_ORDER = { error: 0, warning: 1, info: 2 } as const;

export function sortBySeverity(problems: readonly Problem[]): readonly Problem[] {
  return [...problems].sort((one, other) => SEVERITY_ORDER[one.severity] - SEVERITY_ORDER[other.severity]);
}

function toSentence(text: string): string {
  return /[.?]$/.test(text) ? text : `${text}.`;
}
