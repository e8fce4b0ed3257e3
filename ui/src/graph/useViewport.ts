import { useReactFlow, type Viewport } from "@xyflow/react";
import { type RefObject, useCallback, useEffect, useMemo } from "react";
import { type Layout, NODE, type Point, type Rect } from "./geometry";
import { useGraphFocus } from "./graphFocus";
import { layoutBounds } from "./viewportCulling";

export const MIN_ZOOM = 0.01;
const READABLE_ZOOM = 0.8; // a zoom at which titles can be read
const PADDING = { top: 44, right: 24, bottom: 24, left: 24 }; // px around the graph; the waves' headers are at the top

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
    const size = () => frame.current?.getBoundingClientRect() ?? new DOMRect();
    const bounds = layoutBounds(layout);
    const showAll = () => fitViewport(bounds, size(), MIN_ZOOM);
    const fit = () => void flow.setViewport(showAll(), { duration: animationMs() });
    /** Shows everything if that is readable, else what is around this task; without one, the beginning. */
    const showInitial = (id: string | null) =>
      void flow.setViewport(fitViewport(bounds, size(), READABLE_ZOOM, layout.places.get(id ?? "")));
    return { fit, showInitial };
  }, [flow, layout, frame]);
}

/** Everything if it fits at this zoom, else what is around a place, with as little empty space as possible. */
export function fitViewport(
  bounds: Rect,
  { width, height }: Size,
  minZoom: number,
  around: Point = bounds,
): Viewport {
  const room = { width: width - PADDING.left - PADDING.right, height: height - PADDING.top - PADDING.bottom };
  const zoom = Math.max(minZoom, Math.min(1, room.width / bounds.width, room.height / bounds.height));
  const shift = (start: number, length: number, place: number, before: number, space: number) => {
    const free = space - length * zoom;
    const wanted = space / 2 - (place - start) * zoom;
    return before - start * zoom + (free >= 0 ? free / 2 : Math.max(free, Math.min(0, wanted)));
  };
  return {
    x: shift(bounds.x, bounds.width, around.x + NODE.width / 2, PADDING.left, room.width),
    y: shift(bounds.y, bounds.height, around.y + NODE.height / 2, PADDING.top, room.height),
    zoom,
  };
}

type Size = Pick<Rect, "width" | "height">;

/** Centres a task that isn't wholly visible or readable. */
function useCenterOn(layout: Layout, frame: RefObject<HTMLElement | null>) {
  const flow = useReactFlow();
  return useCallback(
    (id: string | null) => {
      const place = id === null ? undefined : layout.places.get(id);
      if (place === undefined || frame.current === null) return;
      if (flow.getZoom() >= READABLE_ZOOM && isVisible(flow, place, frame.current)) return;
      const how = { zoom: Math.max(flow.getZoom(), READABLE_ZOOM), duration: animationMs() };
      void flow.setCenter(place.x + NODE.width / 2, place.y + NODE.height / 2, how);
    },
    [flow, layout, frame],
  );
}

/** In the frame, and not behind the overview or the buttons. */
function isVisible(flow: ReturnType<typeof useReactFlow>, { x, y }: Point, frame: HTMLElement): boolean {
  const from = flow.flowToScreenPosition({ x, y });
  const to = flow.flowToScreenPosition({ x: x + NODE.width, y: y + NODE.height });
  const seen = frame.getBoundingClientRect();
  const isCovered = [...frame.querySelectorAll(".react-flow__panel")].some((panel) => {
    const { left, right, top, bottom } = panel.getBoundingClientRect();
    return from.x < right && left < to.x && from.y < bottom && top < to.y;
  });
  return !isCovered && from.x >= seen.left && from.y >= seen.top && to.x <= seen.right && to.y <= seen.bottom;
}

function animationMs(): number {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 200;
}
