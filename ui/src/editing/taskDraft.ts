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

const DEFAULT_PRIORITY = 1; // the priority of a task that says nothing of it

export function toTaskDraft(task: TaskDetail): TaskDraft {
  return {
    title: task.title,
    body: task.body,
    needs: task.needs.filter(({ kind }) => kind === "need").map(({ id }) => id),
    touches: task.touches,
    phase: task.phase ?? "",
    priority: task.priority === DEFAULT_PRIORITY ? "" : String(task.priority),
    agent: task.agent ?? "",
    model: task.model ?? "",
    verify: task.verify ?? "",
    run: task.run ?? "",
  };
}

/** A field in one text, to be compared. */
export function fieldText(draft: TaskDraft, field: FieldName): string {
  const value = draft[field];
  return typeof value === "string" ? value : value.join("\n");
}

export function changedFields(base: TaskDraft, draft: TaskDraft): readonly FieldName[] {
  return FIELDS.filter((field) => fieldText(base, field) !== fieldText(draft, field));
}

type TaskPatch = { -readonly [F in FieldName]?: string | string[] };

/** What is to be sent: an empty text takes something away. */
export function buildPatch(base: TaskDraft, draft: TaskDraft): TaskPatch {
  const patch: TaskPatch = {};
  for (const field of changedFields(base, draft)) {
    const value = draft[field];
    patch[field] = typeof value === "string" ? value : [...value];
  }
  return patch;
}

/** Fields that both have changed, and not to the same. */
export function conflictingFields(base: TaskDraft, mine: TaskDraft, theirs: TaskDraft): readonly FieldName[] {
  const other = new Set(changedFields(base, theirs));
  const differs = new Set(changedFields(mine, theirs));
  return changedFields(base, mine).filter((field) => other.has(field) && differs.has(field));
}

/** Theirs, with what I changed. */
export function mergeDrafts(base: TaskDraft, mine: TaskDraft, theirs: TaskDraft): TaskDraft {
  const own = Object.fromEntries(changedFields(base, mine).map((field) => [field, mine[field]]));
  return { ...theirs, ...own };
}

/** The field that a refusal is about, if it is one of the form's. */
export function parseFieldName(path: string | null): FieldName | "text" | null {
  const last = path?.split(".").at(-1) ?? null;
  return last === "text" ? "text" : (FIELDS.find((field) => field === last) ?? null);
}
