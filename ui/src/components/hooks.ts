/* Shared hooks: one clock for all durations, media queries, and widths. */

import { type RefObject, useCallback, useLayoutEffect, useState, useSyncExternalStore } from "react";

let now = Date.now();
let timer = 0;
const listeners = new Set<() => void>();

function tick(): void {
  now = Date.now();
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === 0) {
    now = Date.now();
    timer = window.setInterval(tick, 1000);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    window.clearInterval(timer);
    timer = 0;
  };
}

const neverSubscribe = () => () => undefined;
const readClock = () => now;
const readDay = () => new Date().setHours(0, 0, 0, 0);

/** The time in milliseconds, updated every second while `running`; otherwise the beginning of the day. */
export function useNow(running = true): number {
  return useSyncExternalStore(running ? subscribe : neverSubscribe, running ? readClock : readDay);
}

export function useMediaQuery(query: string): boolean {
  const subscribe = useCallback(
    (onChange: () => void) => {
      const list = window.matchMedia(query);
      list.addEventListener("change", onChange);
      return () => list.removeEventListener("change", onChange);
    },
    [query],
  );
  return useSyncExternalStore(subscribe, () => window.matchMedia(query).matches);
}

/** The width of an element in px, now and whenever it changes. */
export function useWidth(ref: RefObject<Element | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return;
    setWidth(element.clientWidth);
    const observer = new ResizeObserver(([entry]) => entry && setWidth(Math.round(entry.contentRect.width)));
    observer.observe(element);
    return () => observer.disconnect();
  }, [ref]);
  return width;
}
