/* Batches with a strip on the board: open ones, and ended ones until they are dismissed in this browser. */

import { create } from "zustand";
import { loadList, saveItem } from "../store/browserStorage";

const KEY = "plait.watched";
const MAX_PINNED = 20;

export const usePinnedBatches = create<{ ids: readonly string[] }>(() => ({ ids: loadList(KEY) }));

export function pinBatches(ids: readonly string[]): void {
  const known = usePinnedBatches.getState().ids;
  const fresh = ids.filter((id) => !known.includes(id));
  if (fresh.length > 0) savePinned([...known, ...fresh].slice(-MAX_PINNED));
}

export function unpinBatch(id: string): void {
  savePinned(usePinnedBatches.getState().ids.filter((each) => each !== id));
}

function savePinned(ids: readonly string[]): void {
  usePinnedBatches.setState({ ids });
  saveItem(KEY, JSON.stringify(ids));
}

// Dismissing in one window also dismisses in the others.
if (typeof window !== "undefined")
  window.addEventListener(
    "storage",
    ({ key }) => key === KEY && usePinnedBatches.setState({ ids: loadList(KEY) }),
  );
