/* Unsent drafts in localStorage. Only the newest of each kind are kept. */

import { currentProject } from "../app/routes";

const MAX_DRAFTS = 50;

type Store = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

/** The storage key; it includes the project, because batch ids may repeat. */
export function draftKey(kind: string, ...of: readonly string[]): string {
  return `plait.${kind} ${JSON.stringify([currentProject(), ...of])}`;
}

/** `null` deletes it. If the browser refuses to store it, it lasts as long as the window. */
export function saveDraft(name: string, draft: unknown, into?: Store, now = Date.now()): void {
  try {
    const store = into ?? window.localStorage;
    if (draft === null) {
      store.removeItem(name);
      return;
    }
    if (store.getItem(name) === null) evictOldest(store, name.slice(0, name.indexOf(" ") + 1));
    store.setItem(name, JSON.stringify({ at: now, draft }));
  } catch {
    return;
  }
}

export function loadDraft(name: string, from?: Store): unknown {
  try {
    const stored = JSON.parse((from ?? window.localStorage).getItem(name) ?? "null") as {
      draft?: unknown;
    } | null;
    return stored?.draft ?? null;
  } catch {
    return null;
  }
}

function evictOldest(store: Store, kind: string): void {
  const names = Array.from({ length: store.length }, (_, n) => store.key(n) ?? "").filter((name) =>
    name.startsWith(kind),
  );
  if (names.length < MAX_DRAFTS) return;
  const oldest = names.map((name) => ({ name, at: writtenAt(store, name) })).sort((a, b) => a.at - b.at);
  for (const { name } of oldest.slice(0, names.length - MAX_DRAFTS + 1)) store.removeItem(name);
}

function writtenAt(store: Store, name: string): number {
  try {
    return Number((JSON.parse(store.getItem(name) ?? "{}") as { at?: unknown }).at) || 0;
  } catch {
    return 0;
  }
}
