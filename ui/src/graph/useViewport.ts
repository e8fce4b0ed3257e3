import { getViewportForBounds, useReactFlow } from "@xyflow/react";
import { type RefObject, useCallback, useEffect, useMemo } from "react";
import { useGraphFocus } from "./graphFocus";
import { type Layout, NODE, type Point } from "./layout";
import { layoutBounds } from "./viewportCulling";

export const MIN_ZOOM = 0.05;
const READABLE_ZOOM = 0.5; // a zoom at which titles can be read

/** The viewport: everything, the beginning, or the current task whenever it changes. */
export function useViewport(layout: Layout, frame: RefObject<HTMLElement | null>) {
  const flow = useReactFlow();
  const centerOn = useCenterOn(layout, frame);
  useEffect(
    () =>
      useGraphFocus.subscribe((now, before) => {
        if (now.current !== before.current && (now.takeFocus || now.matches !== null)) centerOn(now.current);
      }),
    [centerOn],
  );
  return useMemo(() => {
    const whole = () => {
      const { width = 0, height = 0 } = frame.current?.getBoundingClientRect() ?? {};
      return getViewportForBounds(layoutBounds(layout), width, height, MIN_ZOOM, 1, 0.1);
    };
    const fit = () => void flow.setViewport(whole(), { duration: animationMs() });
    /** Shows everything if that is readable, else this task. */
    const showInitial = (id: string | null) => {
      const all = whole();
      if (all.zoom >= READABLE_ZOOM) void flow.setViewport(all);
      else centerOn(id, READABLE_ZOOM + 0.2);
    };
    return { fit, showInitial };
  }, [flow, layout, frame, centerOn]);
}

/** Centres a task that isn't visible or readable. */
function useCenterOn(layout: Layout, frame: RefObject<HTMLElement | null>) {
  const flow = useReactFlow();
  return useCallback(
    (id: string | null, zoom?: number) => {
      const place = id === null ? undefined : layout.places.get(id);
      const seen = frame.current?.getBoundingClientRect();
      if (place === undefined || seen === undefined) return;
      if (zoom === undefined && flow.getZoom() >= READABLE_ZOOM && isVisible(flow, place, seen)) return;
      const near = zoom ?? Math.max(flow.getZoom(), READABLE_ZOOM);
      const how = { zoom: near, duration: zoom === undefined ? animationMs() : 0 };
      void flow.setCenter(place.x + NODE.width / 2, place.y + NODE.height / 2, how);
    },
    [flow, layout, frame],
  );
}

function isVisible(flow: ReturnType<typeof useReactFlow>, { x, y }: Point, seen: DOMRect): boolean {
  const from = flow.flowToScreenPosition({ x, y });
  const to = flow.flowToScreenPosition({ x: x + NODE.width, y: y + NODE.height });
  return from.x >= seen.left && from.y >= seen.top && to.x <= seen.right && to.y <= seen.bottom;
}

function animationMs(): number {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 200;
}
