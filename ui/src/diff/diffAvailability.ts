/* Whether there is a diff to load, and which version of it. Pure. */

import type { BatchSummary, BatchTask } from "../api/types";

export interface DiffAvailability {
  /** Identifies the version of the diff; `null` if there is none. */
  readonly version: string | null;
  /** Why there is no diff. */
  readonly title: string;
  readonly detail: string | null;
}

const IN_PLACE: DiffAvailability = {
  version: null,
  title: "This batch works directly in the checkout",
  detail: "Use git diff to see what has changed there since the last commit.",
};

export function batchDiffAvailability(
  head: Pick<BatchSummary, "settings">,
  tasks: readonly BatchTask[],
): DiffAvailability {
  if (head.settings.isolation === "in-place") return IN_PLACE;
  const commits = tasks.flatMap(({ commit }) => commit ?? []);
  return {
    version: commits.length === 0 ? null : commits.join(" "),
    title: "Nothing merged yet",
    detail: null,
  };
}

export function taskDiffAvailability(
  head: Pick<BatchSummary, "settings">,
  task: BatchTask,
): DiffAvailability {
  if (head.settings.isolation === "in-place") return IN_PLACE;
  const { attempt, status, commit, worktreePath, reason } = task;
  if (attempt === 0) return { version: null, title: "No attempts yet", detail: reason || null };
  if (status === "running" && head.settings.executor !== "local") {
    const detail = "Its changes can be shown when this attempt has ended.";
    return { version: null, title: "Running on a node of the cluster", detail };
  }
  const preparing = status === "running" && worktreePath === null;
  return {
    version: preparing ? null : [attempt, status, commit ?? ""].join(" "),
    title: "Preparing the workspace",
    detail: null,
  };
}
