/* What can be asked of a task now. Of each: `null`, or a sentence why not. The server has the last word. */

import type { BatchHead, Explanation, TaskAction, TaskStatus } from "../api/types";
import { word } from "../parts/Status";
import type { Known } from "./subject";

export type Can = Readonly<Record<TaskAction, string | null>>;

const ENDED: ReadonlySet<TaskStatus> = new Set([
  "done",
  "failed",
  "timed_out",
  "blocked",
  "skipped",
  "conflicted",
  "cancelled",
]);

export interface Queue {
  readonly mode: BatchHead["mode"];
  readonly settings: Pick<BatchHead["settings"], "queueAutoApprove">;
}

function hasEnded(status: TaskStatus): boolean {
  return ENDED.has(status);
}

export function can(known: Known, explanation: Explanation | undefined, head: Queue | undefined): Can {
  const { status } = known;
  const ended = hasEnded(status);
  return {
    cancel: ended ? `It is ${word(status)} already.` : null,
    retry: ended ? blocked(status, explanation) : "It has not ended: there is nothing to try again yet.",
    drop: status === "skipped" ? "It is skipped already." : null,
    approve: unapproved(known, head),
    feedback: unheard(status, explanation),
  };
}

/** Also before its turn: who approves by name need not wait for it. */
function unapproved({ status, attempt }: Known, head: Queue | undefined): string | null {
  if (head?.mode !== "queue") return "Only a queue asks for approval.";
  if (head.settings.queueAutoApprove) return "This queue goes on without approval.";
  const begun = attempt > 0 || (status !== "waiting" && status !== "queued");
  return begun ? "It does not wait for approval." : null;
}

function blocked(status: TaskStatus, explanation: Explanation | undefined): string | null {
  if (status !== "blocked") return null;
  const lost = explanation?.needs.filter((need) => need.status !== null && ENDED.has(need.status));
  const names = lost?.filter((need) => need.status !== "done").map((need) => need.id) ?? [];
  return names.length === 0 ? null : `It is blocked: try ${names.join(", ")} again instead.`;
}

function unheard(status: TaskStatus, explanation: Explanation | undefined): string | null {
  const entrants = explanation?.contest?.entrants ?? [];
  if (entrants.length > 0 && explanation?.waiting !== "answer")
    return "It is chosen from what its entrants write: tell one of them.";
  return status === "merging" ? "It is being merged: tell it when it is done." : blocked(status, explanation);
}
