/* Texts and heights of cards. Pure. */

import type { SourceStatus, Task } from "../api/types";
import { type Column, columnOf } from "../model/columns";
import { spellOutBidi } from "../model/format";

export const SHORT_HEIGHT = 92; // px: all cards of a column have the same height, so that nothing below them moves
const TALL_HEIGHT = 114;
export const HEADING_HEIGHT = 30;

/** Tasks in the first column have no status line yet. */
export function cardHeight(column: Column): number {
  return column === "todo" ? SHORT_HEIGHT : TALL_HEIGHT;
}

const MAX_LENGTH = 400; // characters: more than fits into two lines, but not slow to lay out

export function truncate(text: string): string {
  return spellOutBidi(text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH)}…`);
}

const SOURCE_STATUS_TEXT: Record<SourceStatus, string> = {
  pending: "",
  in_progress: "marked in progress",
  completed: "marked completed",
  skipped: "marked skipped",
  failed: "marked failed",
  blocked: "marked blocked",
  partial: "marked partly done",
  stuck: "marked stuck",
  unreadable: "can't be read",
};

/** The status of a task that is in no batch. */
function sourceStatusText(mark: SourceStatus): string {
  return SOURCE_STATUS_TEXT[mark];
}

const MOVED_TEXT: Record<Column, string> = {
  todo: "now to do",
  waiting: "now waiting",
  running: "now running",
  asking: "now needs you",
  review: "now in review",
  done: "now done",
  failed: "now failed",
};

/** The column that a frozen card belongs to. */
export function describeMove(task: Task, column: Column): string | null {
  const now = columnOf(task);
  return now === column ? null : MOVED_TEXT[now];
}

/** The text beside the status: the activity of a running task, otherwise the reason. */
export function statusLine(task: Task, activity: string | undefined): string {
  const { batch } = task;
  if (batch === null) return sourceStatusText(task.status);
  const active = batch.status === "running" || batch.status === "verifying" || batch.status === "merging";
  return truncate((active ? (activity ?? batch.phase ?? batch.reason) : batch.reason) ?? "");
}
