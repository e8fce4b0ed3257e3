/* What the user has put away in this browser. Its key says what it was about, so that something new comes back. */

import { create } from "zustand";
import { loadList, saveItem } from "./browserStorage";

const KEY = "plait.dismissed";
const MAX_KEYS = 200;

const load = () => ({ keys: new Set(loadList(KEY)) as ReadonlySet<string> });

export const useDismissed = create<{ keys: ReadonlySet<string> }>(load);

export function dismissItem(key: string): void {
  const keys = [...useDismissed.getState().keys, key].slice(-MAX_KEYS);
  useDismissed.setState({ keys: new Set(keys) });
  saveItem(KEY, JSON.stringify(keys));
}

// Dismissing in one window also dismisses in the others.
if (typeof window !== "undefined")
  window.addEventListener("storage", ({ key }) => key === KEY && useDismissed.setState(load()));
