/* What was written and not sent, kept by this browser. Of each kind only the newest ones are, so that it never fills up. */

import { projectInAddress } from "../app/address";

const MOST = 50;

type Store = Pick<Storage, "getItem" | "setItem" | "removeItem" | "key" | "length">;

/** Where it is kept: batches of two projects may be called the same. */
export function draftName(kind: string, ...of: readonly string[]): string {
  return `plait.${kind} ${JSON.stringify([projectInAddress(), ...of])}`;
}

/** `null` forgets it. A browser may refuse to keep anything: then it lasts as long as the window. */
export function keepDraft(name: string, draft: unknown, into?: Store, now = Date.now()): void {
  try {
    const store = into ?? window.localStorage;
    if (draft === null) {
      store.removeItem(name);
      return;
    }
    if (store.getItem(name) === null) makeRoom(store, name.slice(0, name.indexOf(" ") + 1));
    store.setItem(name, JSON.stringify({ at: now, draft }));
  } catch {
    return;
  }
}

export function keptDraft(name: string, from?: Store): unknown {
  try {
    const told = JSON.parse((from ?? window.localStorage).getItem(name) ?? "null") as {
      draft?: unknown;
    } | null;
    return told?.draft ?? null;
  } catch {
    return null;
  }
}

function makeRoom(store: Store, kind: string): void {
  const names = Array.from({ length: store.length }, (_, n) => store.key(n) ?? "").filter((name) =>
    name.startsWith(kind),
  );
  if (names.length < MOST) return;
  const oldest = names.map((name) => ({ name, at: writtenAt(store, name) })).sort((a, b) => a.at - b.at);
  for (const { name } of oldest.slice(0, names.length - MOST + 1)) store.removeItem(name);
}

function writtenAt(store: Store, name: string): number {
  try {
    return Number((JSON.parse(store.getItem(name) ?? "{}") as { at?: unknown }).at) || 0;
  } catch {
    return 0;
  }
}
