/* What a card says, as words. Pure. */

import type { Mark, Task } from "../api/types";
import { type Column, columnOf } from "../model/columns";

export const SHORT = 92; // px: cards of one column are of one height, so that nothing below them moves
export const TALL = 114;
export const HEADING = 30;

/** In the first column nothing has happened yet that a line would be needed for. */
export function heightIn(column: Column): number {
  return column === "todo" ? SHORT : TALL;
}

const LONGEST = 400; // characters: more than fits into two lines, and less than would be slow to lay out

export function clipped(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}…`;
}

const MARKS: Record<Mark, string> = {
  pending: "",
  in_progress: "in progress, says its source",
  completed: "completed, says its source",
  skipped: "skipped, says its source",
  failed: "failed, says its source",
  blocked: "blocked, says its source",
  partial: "partly done, says its source",
  stuck: "stuck, says its source",
  unreadable: "can't be read",
};

/** How far it is where no batch has it. */
export function markWords(mark: Mark): string {
  return MARKS[mark];
}

const NOW: Record<Column, string> = {
  todo: "now to do",
  waiting: "now waiting",
  running: "now running",
  asking: "now needs you",
  review: "now in review",
  done: "now done",
  failed: "now failed",
};

/** Where a card belongs that is held where it was. */
export function elsewhere(task: Task, column: Column): string | null {
  const now = columnOf(task);
  return now === column ? null : NOW[now];
}

/** What is said of it beside its status: what it does while it is at work, and otherwise why it is where it is. */
export function line(task: Task, activity: string | undefined): string {
  const { batch } = task;
  if (batch === null) return markWords(task.status);
  const atWork = batch.status === "running" || batch.status === "verifying" || batch.status === "merging";
  return clipped((atWork ? (activity ?? batch.phase ?? batch.reason) : batch.reason) ?? "");
}
