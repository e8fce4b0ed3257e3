/* Zooming and dragging of the timeline. */

import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useWidth } from "../components/hooks";

const MAX_FACTOR = 200;
const MAX_PX_PER_SECOND = 200; // px for a second
const ZOOM_STEP = 1.5;

export interface Zoom {
  /** 1: everything is visible. */
  readonly factor: number;
  readonly maxFactor: number;
  /** Width of the rendered axis, in px. */
  readonly width: number;
  /** The scroll container, and the axis in it. */
  readonly scroller: RefObject<HTMLDivElement | null>;
  readonly track: RefObject<HTMLDivElement | null>;
  zoomBy(steps: number, at?: number): void;
  fit(): void;
}

export function useZoom(length: number): Zoom {
  const [factor, setFactor] = useState(1);
  const scroller = useRef<HTMLDivElement>(null);
  const track = useRef<HTMLDivElement>(null);
  const width = useWidth(track);
  const anchor = useRef<{ share: number; at: number } | null>(null);
  const most = Math.max(
    1,
    Math.min(MAX_FACTOR, ((length / 1000) * MAX_PX_PER_SECOND * factor) / Math.max(width, 1)),
  );
  const by = useCallback(
    (steps: number, at?: number) => {
      const [outer, inner] = [scroller.current, track.current];
      if (outer === null || inner === null) return;
      const middle = at ?? (outer.clientWidth - inner.offsetLeft) / 2;
      anchor.current = { share: (outer.scrollLeft + middle) / inner.clientWidth, at: middle };
      setFactor((now) => Math.min(most, Math.max(1, now * ZOOM_STEP ** steps)));
    },
    [most],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: after the axis was rendered again
  useLayoutEffect(() => {
    const [outer, inner, anchored] = [scroller.current, track.current, anchor.current];
    if (outer && inner && anchored) outer.scrollLeft = anchored.share * inner.clientWidth - anchored.at;
    anchor.current = null;
  }, [factor]);
  useWheelZoom(scroller, track, by);
  return { factor, maxFactor: most, width, scroller, track, zoomBy: by, fit: () => setFactor(1) };
}

/** Ctrl+wheel zooms at the pointer; preventDefault keeps the browser from zooming the page. */
function useWheelZoom(
  scroller: RefObject<HTMLDivElement | null>,
  track: RefObject<HTMLDivElement | null>,
  zoomBy: Zoom["zoomBy"],
): void {
  useEffect(() => {
    const outer = scroller.current;
    if (outer === null) return;
    const onWheel = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      const left = outer.getBoundingClientRect().left + (track.current?.offsetLeft ?? 0);
      zoomBy(
        -Math.sign(event.deltaY) * Math.min(1, Math.abs(event.deltaY) / 60),
        Math.max(0, event.clientX - left),
      );
    };
    outer.addEventListener("wheel", onWheel, { passive: false });
    return () => outer.removeEventListener("wheel", onWheel);
  }, [scroller, track, zoomBy]);
}

const DRAG_THRESHOLD = 4; // px that don't count as dragging

/** Dragging with the mouse scrolls, except on buttons. */
export function useDragScroll(scroller: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const outer = scroller.current;
    if (outer === null) return;
    let from: { x: number; y: number; left: number; top: number } | null = null;
    const aborter = new AbortController();
    const on = <K extends keyof HTMLElementEventMap>(
      type: K,
      handler: (event: HTMLElementEventMap[K]) => void,
    ) => outer.addEventListener(type, handler, { signal: aborter.signal });
    on("pointerdown", (event) => {
      const busy = event.target instanceof Element && event.target.closest("button") !== null;
      if (busy || event.pointerType !== "mouse" || event.button !== 0) return;
      from = { x: event.clientX, y: event.clientY, left: outer.scrollLeft, top: outer.scrollTop };
    });
    on("pointermove", (event) => {
      if (event.buttons === 0) from = null; // released elsewhere
      if (from === null) return;
      const [x, y] = [event.clientX - from.x, event.clientY - from.y];
      if (Math.abs(x) + Math.abs(y) < DRAG_THRESHOLD) return;
      outer.setPointerCapture(event.pointerId);
      outer.scrollTo(from.left - x, from.top - y);
    });
    const onRelease = () => {
      from = null;
    };
    on("pointerup", onRelease);
    on("pointercancel", onRelease);
    return () => aborter.abort();
  }, [scroller]);
}
