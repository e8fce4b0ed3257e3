/* The fields of a task while it is edited. Pure.

   Law: only changed fields are sent, so that edits by others to other fields survive. */

import type { TaskDetail } from "../api/types";

export interface TaskDraft {
  readonly title: string;
  readonly body: string;
  readonly needs: readonly string[];
  readonly touches: readonly string[];
  readonly phase: string;
  readonly priority: string;
  readonly agent: string;
  readonly model: string;
  readonly verify: string;
  readonly run: string;
}

export type FieldName = keyof TaskDraft;

const FIELDS: readonly FieldName[] = [
  "title",
  "body",
  "needs",
  "touches",
  "phase",
  "priority",
  "agent",
  "model",
  "verify",
  "run",
];

export const EMPTY_TASK: TaskDraft = {
  title: "",
  body: "",
  needs: [],
  touches: [],
  phase: "",
  priority: "",
  agent: "",
  model: "",
  verify: "",
  run: "",
};

const DEFAULT_PRIORITY = 1; // the priority of a task that sets none

export function toTaskDraft(task: TaskDetail): TaskDraft {
  return {
    title: task.title,
    body: fieldLines(task.body),
    needs: task.needs.filter(({ kind }) => kind === "need").map(({ id }) => id),
    touches: task.touches,
    phase: task.phase ?? "",
    priority: task.priority === DEFAULT_PRIORITY ? "" : String(task.priority),
    agent: task.agent ?? "",
    model: task.model ?? "",
    verify: fieldLines(task.verify ?? ""),
    run: fieldLines(task.run ?? ""),
  };
}

/** As a text field has it, whatever is set: the server writes the line ends of the file. */
export function fieldLines(text: string): string {
  return text.replace(/\r\n?/g, "\n");
}

/** A field as text, for comparison. */
export function fieldText(draft: TaskDraft, field: FieldName): string {
  const value = draft[field];
  return typeof value === "string" ? value : value.join("\n");
}

export function changedFields(base: TaskDraft, draft: TaskDraft): readonly FieldName[] {
  return FIELDS.filter((field) => fieldText(base, field) !== fieldText(draft, field));
}

type TaskPatch = { -readonly [F in FieldName]?: string | string[] };

/** The fields to send; an empty text removes a field. */
export function buildPatch(base: TaskDraft, draft: TaskDraft): TaskPatch {
  const patch: TaskPatch = {};
  for (const field of changedFields(base, draft)) {
    const value = draft[field];
    patch[field] = typeof value === "string" ? value : [...value];
  }
  return patch;
}

/** Fields that both sides changed differently. */
export function conflictingFields(base: TaskDraft, mine: TaskDraft, theirs: TaskDraft): readonly FieldName[] {
  const other = new Set(changedFields(base, theirs));
  const differs = new Set(changedFields(mine, theirs));
  return changedFields(base, mine).filter((field) => other.has(field) && differs.has(field));
}

/** Their version with my changes. */
export function mergeDrafts(base: TaskDraft, mine: TaskDraft, theirs: TaskDraft): TaskDraft {
  const own = Object.fromEntries(changedFields(base, mine).map((field) => [field, mine[field]]));
  return { ...theirs, ...own };
}

/** The form field that an error is about, if any. */
export function parseFieldName(path: string | null): FieldName | "text" | null {
  const last = path?.split(".").at(-1) ?? null;
  return last === "text" ? "text" : (FIELDS.find((field) => field === last) ?? null);
}
