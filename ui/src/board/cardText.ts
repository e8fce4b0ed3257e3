/* Texts and heights of cards. Pure. */

import type { SourceStatus, Task, TaskStatus } from "../api/types";
import { type Column, columnOf, isAtWork } from "../model/columns";
import { spellOutBidi } from "../model/format";

const SHORT_HEIGHT = 60; // px: all cards of a column have the same height, so that nothing below them moves
const TALL_HEIGHT = 72;
export const HEADING_HEIGHT = 30;

const WITHOUT_REASON: ReadonlySet<Column> = new Set(["todo", "review", "done"]);

/** In some columns, cards have no reason or activity to show. */
export function isTall(column: Column): boolean {
  return !WITHOUT_REASON.has(column);
}

export function cardHeight(column: Column): number {
  return isTall(column) ? TALL_HEIGHT : SHORT_HEIGHT;
}

const MAX_LENGTH = 400; // characters: more than fits into two lines, but not slow to lay out

export function truncate(text: string): string {
  return spellOutBidi(text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH)}…`);
}

/** Whether an id only repeats the title, as that of an item of a checklist does. */
export function repeatsTitle(id: string, title: string): boolean {
  const words = title.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return `${words.join("-")}-`.startsWith(`${id.toLowerCase()}-`);
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

/** What a card says below its facts: the activity of a running task, otherwise the reason. */
export function cardReason(task: Task, activity: string | undefined): string {
  const { batch } = task;
  if (batch === null) return "";
  const own = batch.short || batch.reason;
  return truncate((isAtWork(batch.status) && !batch.needsYou ? (activity ?? batch.phase ?? own) : own) ?? "");
}

/** A reason that doesn't fit on one line of `room` px takes two, and leaves one for the title. */
export function reasonLength(
  reason: string,
  room: number,
  measureWidth: (text: string) => number,
): "short" | "long" | undefined {
  if (reason === "") return undefined;
  return measureWidth(reason) <= room ? "short" : "long";
}

const BY_COLUMN: Record<Column, readonly TaskStatus[]> = {
  todo: ["queued"],
  waiting: ["queued", "waiting"],
  running: ["running"],
  asking: ["queued", "waiting", "running", "verifying"],
  review: ["done"],
  done: ["done"],
  failed: ["failed"],
};

/** The status where the column doesn't say it already; of a task in no batch, what its source says. */
export function ownStatus({ batch, status }: Task, column: Column): TaskStatus | string {
  if (batch === null) return column === "todo" || status === "unreadable" ? SOURCE_STATUS_TEXT[status] : "";
  return BY_COLUMN[column].includes(batch.status) ? "" : batch.status;
}

const DEFAULT_PRIORITY = 1;

/** `P0`, as most sources spell it; nothing for the usual one. */
export function formatPriority(priority: number): string {
  return priority === DEFAULT_PRIORITY ? "" : `P${priority + 1}`;
}
