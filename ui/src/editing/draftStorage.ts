/* Unsaved task edits, stored in the browser so that closing the window loses nothing. */

import { EMPTY_TASK, type TaskDraft } from "./taskDraft";

/** The version that the draft is based on. */
export interface Base {
  readonly draft: TaskDraft;
  /** The whole file; `null`: it is new. */
  readonly text: string | null;
  readonly version: string | null;
}

export type Mode = "fields" | "text";

export interface StoredDraft {
  readonly base: Base;
  readonly draft: TaskDraft;
  readonly text: string;
  readonly mode: Mode;
  readonly at: string;
}

export const NEW_TASK: Base = { draft: EMPTY_TASK, text: null, version: null };

export function taskDraftKey(project: string | null, task: string | null): string {
  return `plait.draft ${JSON.stringify([project, task])}`;
}

type Store = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** A browser may refuse to store anything. */
export function saveTaskDraft(store: Store, key: string, draft: StoredDraft): void {
  try {
    store.setItem(key, JSON.stringify(draft));
  } catch {
    removeTaskDraft(store, key);
  }
}

export function removeTaskDraft(store: Store, key: string): void {
  try {
    store.removeItem(key);
  } catch {
    // then there is no draft either
  }
}

export function loadTaskDraft(store: Store, key: string): StoredDraft | null {
  try {
    const value: unknown = JSON.parse(store.getItem(key) ?? "null");
    return isStoredDraft(value) ? value : null;
  } catch {
    return null;
  }
}

function isStoredDraft(value: unknown): value is StoredDraft {
  if (typeof value !== "object" || value === null) return false;
  const { base, draft, text, at } = value as Partial<StoredDraft>;
  return isTaskDraft(draft) && isTaskDraft(base?.draft) && typeof text === "string" && typeof at === "string";
}

/** Validates the stored value: an older version of the page may have stored another shape. */
function isTaskDraft(value: unknown): value is TaskDraft {
  if (typeof value !== "object" || value === null) return false;
  const record = value as Record<string, unknown>;
  return Object.entries(EMPTY_TASK).every(([field, blank]) =>
    Array.isArray(blank)
      ? Array.isArray(record[field]) && record[field].every((item) => typeof item === "string")
      : typeof record[field] === "string",
  );
}
