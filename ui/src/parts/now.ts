/* One clock for everything that shows how long something has lasted. */

import { useSyncExternalStore } from "react";

let now = Date.now();
let timer = 0;
const watchers = new Set<() => void>();

function tick(): void {
  now = Date.now();
  for (const watcher of watchers) watcher();
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher);
  if (timer === 0) {
    now = Date.now();
    timer = window.setInterval(tick, 1000);
  }
  return () => {
    watchers.delete(watcher);
    if (watchers.size > 0) return;
    window.clearInterval(timer);
    timer = 0;
  };
}

const nothing = () => () => undefined;

/** Milliseconds, every second while `running`; then it stands still and costs nothing. */
export function useNow(running = true): number {
  return useSyncExternalStore(running ? watch : nothing, () => now);
}
