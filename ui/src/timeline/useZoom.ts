/* How much longer than the window the line is drawn, and what stays in its place when that changes. */

import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

const MOST = 200;
const FINEST = 200; // px for a second
const STEP = 1.5;

export interface Zoom {
  /** 1: all of it is seen. */
  readonly factor: number;
  readonly most: number;
  /** Of the line as it is drawn, in px. */
  readonly width: number;
  /** What scrolls, and the line in it. */
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly track: RefObject<HTMLDivElement | null>;
  by(steps: number, at?: number): void;
  fit(): void;
}

export function useZoom(length: number): Zoom {
  const [factor, setFactor] = useState(1);
  const [width, setWidth] = useState(0);
  const scroller = useRef<HTMLDivElement>(null);
  const track = useRef<HTMLDivElement>(null);
  const kept = useRef<{ share: number; at: number } | null>(null);
  const most = Math.max(1, Math.min(MOST, ((length / 1000) * FINEST * factor) / Math.max(width, 1)));
  const by = useCallback(
    (steps: number, at?: number) => {
      const [outer, inner] = [scroller.current, track.current];
      if (outer === null || inner === null) return;
      const middle = at ?? (outer.clientWidth - inner.offsetLeft) / 2;
      kept.current = { share: (outer.scrollLeft + middle) / inner.clientWidth, at: middle };
      setFactor((now) => Math.min(most, Math.max(1, now * STEP ** steps)));
    },
    [most],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: after the line was drawn anew
  useLayoutEffect(() => {
    const [outer, inner, keep] = [scroller.current, track.current, kept.current];
    if (outer && inner && keep) outer.scrollLeft = keep.share * inner.clientWidth - keep.at;
    kept.current = null;
  }, [factor]);
  useWidth(track, setWidth);
  useWheel(scroller, track, by);
  return { factor, most, width, scroller, track, by, fit: () => setFactor(1) };
}

function useWidth(track: RefObject<HTMLDivElement | null>, set: (width: number) => void): void {
  useEffect(() => {
    if (track.current === null) return;
    const observer = new ResizeObserver(([entry]) => entry && set(entry.contentRect.width));
    observer.observe(track.current);
    return () => observer.disconnect();
  }, [track, set]);
}

/** With Ctrl it zooms where the pointer is; a browser only lets that be if it is asked not to zoom itself. */
function useWheel(
  scroller: RefObject<HTMLDivElement | null>,
  track: RefObject<HTMLDivElement | null>,
  by: Zoom["by"],
): void {
  useEffect(() => {
    const outer = scroller.current;
    if (outer === null) return;
    const turned = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const left = outer.getBoundingClientRect().left + (track.current?.offsetLeft ?? 0);
      by(
        -Math.sign(event.deltaY) * Math.min(1, Math.abs(event.deltaY) / 60),
        Math.max(0, event.clientX - left),
      );
    };
    outer.addEventListener("wheel", turned, { passive: false });
    return () => outer.removeEventListener("wheel", turned);
  }, [scroller, track, by]);
}
