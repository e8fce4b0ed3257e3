/* Whether there is a change to be read, and what it depends on. What the server would refuse is not asked for. Pure. */

import type { BatchHead, BatchTask } from "../api/types";

export interface Standing {
  /** As long as it stays, so does the change; `null`: there is none. */
  readonly mark: string | null;
  /** Why there is none. */
  readonly title: string;
  readonly more: string | null;
}

const IN_PLACE: Standing = {
  mark: null,
  title: "The tasks of this batch work in the checkout itself",
  more: "git diff shows what has changed there since the last commit, whoever did it.",
};

export function ofBatch(head: Pick<BatchHead, "settings">, tasks: readonly BatchTask[]): Standing {
  if (head.settings.isolation === "in-place") return IN_PLACE;
  const commits = tasks.flatMap(({ commit }) => commit ?? []);
  return {
    mark: commits.length === 0 ? null : commits.join(" "),
    title: "Nothing is merged yet",
    more: null,
  };
}

export function ofTask(head: Pick<BatchHead, "settings">, task: BatchTask): Standing {
  if (head.settings.isolation === "in-place") return IN_PLACE;
  const { attempt, status, commit, worktreePath, reason } = task;
  if (attempt === 0) return { mark: null, title: "It has made no attempt yet", more: reason || null };
  const preparing = status === "running" && worktreePath === null;
  return {
    mark: preparing ? null : [attempt, status, commit ?? ""].join(" "),
    title: "Its workspace is being prepared",
    more: null,
  };
}
