/* Which batches have a strip: those that are open, and those that this browser saw open and nobody has dismissed since. */

import { create } from "zustand";
import { recallList, remember } from "../store/browser";

const KEY = "plait.watched";
const MOST = 20;

export const useWatched = create<{ ids: readonly string[] }>(() => ({ ids: recallList(KEY) }));

export function watch(ids: readonly string[]): void {
  const known = useWatched.getState().ids;
  const fresh = ids.filter((id) => !known.includes(id));
  if (fresh.length > 0) keep([...known, ...fresh].slice(-MOST));
}

export function dismiss(id: string): void {
  keep(useWatched.getState().ids.filter((each) => each !== id));
}

function keep(ids: readonly string[]): void {
  useWatched.setState({ ids });
  remember(KEY, JSON.stringify(ids));
}

// What is dismissed in one window is dismissed in the others.
if (typeof window !== "undefined")
  window.addEventListener(
    "storage",
    ({ key }) => key === KEY && useWatched.setState({ ids: recallList(KEY) }),
  );
