/* Why an action on a task is disabled; `null` if it is allowed. The server has the last word. */

import type { BatchSummary, Explanation, TaskAction, TaskStatus } from "../api/types";
import { statusText } from "../components/Status";
import { hasEnded } from "../model/columns";
import type { RunInfo } from "./selectedTask";

type DisabledReasons = Readonly<Record<TaskAction, string | null>>;

interface QueueInfo {
  readonly mode: BatchSummary["mode"];
  readonly settings: Pick<BatchSummary["settings"], "queueAutoApprove">;
}

export function disabledReasons(
  known: RunInfo,
  explanation: Explanation | undefined,
  batch: QueueInfo | undefined,
): DisabledReasons {
  const { status } = known;
  const ended = hasEnded(status);
  return {
    cancel: ended ? `It is already ${statusText(status)}.` : null,
    retry: ended ? whyNotRetry(status, explanation) : "It has not ended yet.",
    recheck: whyNotRecheck(known, explanation),
    drop: status === "skipped" ? "It is already skipped." : null,
    approve: whyNotApprove(known, batch),
    feedback: whyNotFeedback(status, explanation),
  };
}

/** Also before its turn: a task can be approved by name at any time. */
function whyNotApprove({ status, attempt }: RunInfo, batch: QueueInfo | undefined): string | null {
  if (batch?.mode !== "queue") return "Only queues need approval.";
  if (batch.settings.queueAutoApprove) return "This queue does not need approval.";
  const started = attempt > 0 || (status !== "waiting" && status !== "queued");
  return started ? "It is not waiting for approval." : null;
}

function whyNotRetry(status: TaskStatus, explanation: Explanation | undefined): string | null {
  if (status !== "blocked") return null;
  const endedNeeds = explanation?.needs.filter((need) => need.status !== null && hasEnded(need.status));
  const names = endedNeeds?.filter((need) => need.status !== "done").map((need) => need.id) ?? [];
  return names.length === 0 ? null : `It is blocked: retry ${names.join(", ")} instead.`;
}

/** Only the server knows whether its agent had finished; without an attempt it certainly had not. */
function whyNotRecheck({ status, attempt }: RunInfo, explanation: Explanation | undefined): string | null {
  if (!hasEnded(status)) return "It has not ended yet.";
  if (status === "done") return "It is already done.";
  if (attempt === 0) return "It has no finished work.";
  return whyNotRetry(status, explanation);
}

function whyNotFeedback(status: TaskStatus, explanation: Explanation | undefined): string | null {
  const entrants = explanation?.contest?.entrants ?? [];
  if (entrants.length > 0 && explanation?.waiting !== "answer")
    return "A contest decides this task: send feedback to one of its entrants.";
  return status === "merging"
    ? "It is being merged: send feedback when it is done."
    : whyNotRetry(status, explanation);
}
