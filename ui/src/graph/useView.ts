import { getViewportForBounds, useReactFlow } from "@xyflow/react";
import { type RefObject, useCallback, useEffect, useMemo } from "react";
import { type Layout, NODE, type Point } from "./layout";
import { useLooking } from "./looking";
import { boundsOf } from "./tiles";

export const SMALLEST = 0.05;
const READABLE = 0.5; // a zoom at which titles can be read

/** What of the graph is seen: the whole, a beginning, or the current task whenever it changes. */
export function useView(layout: Layout, frame: RefObject<HTMLElement | null>) {
  const flow = useReactFlow();
  const bring = useBring(layout, frame);
  useEffect(
    () =>
      useLooking.subscribe((now, before) => {
        if (now.current !== before.current && (now.take || now.found !== null)) bring(now.current);
      }),
    [bring],
  );
  return useMemo(() => {
    const whole = () => {
      const { width = 0, height = 0 } = frame.current?.getBoundingClientRect() ?? {};
      return getViewportForBounds(boundsOf(layout), width, height, SMALLEST, 1, 0.1);
    };
    const fit = () => void flow.setViewport(whole(), { duration: pace() });
    /** The whole, if it can be read; or else this task. */
    const begin = (id: string | null) => {
      const all = whole();
      if (all.zoom >= READABLE) void flow.setViewport(all);
      else bring(id, READABLE + 0.2);
    };
    return { fit, begin };
  }, [flow, layout, frame, bring]);
}

/** Brings a task into the middle, if it can't be seen or read. */
function useBring(layout: Layout, frame: RefObject<HTMLElement | null>) {
  const flow = useReactFlow();
  return useCallback(
    (id: string | null, zoom?: number) => {
      const place = id === null ? undefined : layout.places.get(id);
      const seen = frame.current?.getBoundingClientRect();
      if (place === undefined || seen === undefined) return;
      if (zoom === undefined && flow.getZoom() >= READABLE && inside(flow, place, seen)) return;
      const near = zoom ?? Math.max(flow.getZoom(), READABLE);
      const how = { zoom: near, duration: zoom === undefined ? pace() : 0 };
      void flow.setCenter(place.x + NODE.width / 2, place.y + NODE.height / 2, how);
    },
    [flow, layout, frame],
  );
}

function inside(flow: ReturnType<typeof useReactFlow>, { x, y }: Point, seen: DOMRect): boolean {
  const from = flow.flowToScreenPosition({ x, y });
  const to = flow.flowToScreenPosition({ x: x + NODE.width, y: y + NODE.height });
  return from.x >= seen.left && from.y >= seen.top && to.x <= seen.right && to.y <= seen.bottom;
}

function pace(): number {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 200;
}
