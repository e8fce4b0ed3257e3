/* What was written and not saved, kept by the browser: a window that is closed costs nothing. */

import { BLANK, type Draft } from "./draft";

/** What the text was written against. */
export interface Base {
  readonly draft: Draft;
  /** The whole file; `null`: it is new. */
  readonly text: string | null;
  readonly version: string | null;
}

export type Mode = "fields" | "text";

export interface Kept {
  readonly base: Base;
  readonly draft: Draft;
  readonly text: string;
  readonly mode: Mode;
  readonly at: string;
}

export const NEW: Base = { draft: BLANK, text: null, version: null };

export function place(project: string | null, task: string | null): string {
  return `plait.draft ${JSON.stringify([project, task])}`;
}

type Store = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** A browser may refuse to keep anything: then nothing is kept. */
export function keep(store: Store, where: string, kept: Kept): void {
  try {
    store.setItem(where, JSON.stringify(kept));
  } catch {
    forget(store, where);
  }
}

export function forget(store: Store, where: string): void {
  try {
    store.removeItem(where);
  } catch {
    // then there is nothing of it either
  }
}

export function kept(store: Store, where: string): Kept | null {
  try {
    const said: unknown = JSON.parse(store.getItem(where) ?? "null");
    return isKept(said) ? said : null;
  } catch {
    return null;
  }
}

function isKept(said: unknown): said is Kept {
  if (typeof said !== "object" || said === null) return false;
  const { base, draft, text, at } = said as Partial<Kept>;
  return isDraft(draft) && isDraft(base?.draft) && typeof text === "string" && typeof at === "string";
}

/** Of the shape of today: one that an older page kept may have been of another. */
function isDraft(said: unknown): said is Draft {
  if (typeof said !== "object" || said === null) return false;
  const found = said as Record<string, unknown>;
  return Object.entries(BLANK).every(([field, blank]) =>
    Array.isArray(blank)
      ? Array.isArray(found[field]) && found[field].every((item) => typeof item === "string")
      : typeof found[field] === "string",
  );
}
