import { type RefObject, useEffect } from "react";

const DRAG_THRESHOLD = 4; // px that a hand trembles

/** What scrolls can be dragged with a mouse, where there is nothing to press. */
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
