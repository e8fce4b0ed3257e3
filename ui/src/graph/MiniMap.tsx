import { Panel, useReactFlow, useStore } from "@xyflow/react";
import { type PointerEvent, useMemo } from "react";
import { shallow } from "zustand/shallow";
import type { Graph } from "../api/types";
import { taskTone } from "../components/Status";
import styles from "./GraphCanvas.module.css";
import { type Layout, NODE, type Rect } from "./geometry";
import { layoutBounds, visibleRect } from "./viewportCulling";

const MAP_SIZE = { width: 160, height: 100 };
const SHADE_FACTOR = 100; // times the graph: more than the map shows, whatever its aspect ratio

/** An overview of the graph with the current viewport, unless that shows everything. Clicking or dragging moves the viewport. */
export function MiniMap({ nodes, layout }: { nodes: Graph["nodes"]; layout: Layout }) {
  const flow = useReactFlow();
  const view = useStore(({ transform, width, height }) => visibleRect(transform, width, height), shallow);
  const whole = useMemo(() => layoutBounds(layout), [layout]);
  const bounds = useMemo(() => expand(whole, 0.04), [whole]);
  const tones = useMemo(() => pathsByTone(nodes, layout), [nodes, layout]);
  const panTo = (event: PointerEvent<SVGSVGElement>) => {
    const plane = event.currentTarget.getScreenCTM();
    if (event.buttons === 0 || plane === null) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(plane.inverse());
    void flow.setCenter(x, y, { zoom: flow.getZoom() });
  };
  if (contains(view, whole)) return null;
  return (
    <Panel position="bottom-right" className={styles.miniMap ?? ""}>
      <svg
        {...MAP_SIZE}
        viewBox={`${bounds.x} ${bounds.y} ${bounds.width} ${bounds.height}`}
        role="img"
        aria-label="Overview of the graph"
        onPointerDown={panTo}
        onPointerMove={panTo}
      >
        {[...tones].map(([tone, path]) => (
          <path key={tone} d={path} style={{ fill: `var(--${tone})` }} />
        ))}
        <path
          className={styles.shade}
          d={`${rectPath(expand(bounds, SHADE_FACTOR))}${rectPath(view)}`}
          fillRule="evenodd"
        />
      </svg>
    </Panel>
  );
}

/** One path for all tasks of a tone, so that a thousand tasks render fast. */
function pathsByTone(nodes: Graph["nodes"], { places }: Layout): ReadonlyMap<string, string> {
  const boxes = Map.groupBy(nodes, ({ status }) => taskTone(status));
  return new Map(
    [...boxes].map(([tone, mine]) => [
      tone,
      mine
        .flatMap(({ taskId }) => places.get(taskId) ?? [])
        .map((place) => rectPath({ ...place, ...NODE }))
        .join(""),
    ]),
  );
}

function expand({ x, y, width, height }: Rect, share: number): Rect {
  const more = share * Math.max(width, height);
  return { x: x - more, y: y - more, width: width + 2 * more, height: height + 2 * more };
}

function contains(outer: Rect, inner: Rect): boolean {
  return (
    outer.x <= inner.x &&
    outer.y <= inner.y &&
    outer.x + outer.width >= inner.x + inner.width &&
    outer.y + outer.height >= inner.y + inner.height
  );
}

function rectPath({ x, y, width, height }: Rect): string {
  return `M${x} ${y}h${width}v${height}h${-width}z`;
}
