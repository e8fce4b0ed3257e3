import "@xyflow/react/dist/style.css";
import {
  getViewportForBounds,
  MiniMap,
  Panel,
  ReactFlow,
  ReactFlowProvider,
  useReactFlow,
} from "@xyflow/react";
import { type RefObject, useCallback, useEffect, useMemo, useRef } from "react";
import type { Graph } from "../api/types";
import { useTheme } from "../app/theme";
import { useCommands } from "../commands/commands";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { taskTone } from "../parts/Status";
import { Acts } from "./acts";
import { linesOf, type TaskElement, tasksOf, type WaveElement, wavesOf } from "./elements";
import styles from "./Flow.module.css";
import type { Kind } from "./kinds";
import { Lines } from "./Lines";
import { type Layout, laidOut, NODE, type Point, shapeOf } from "./layout";
import { lookAt, useLooking } from "./looking";
import { Said } from "./Said";
import { TaskNode, WaveNode } from "./TaskNode";
import { type Arrow, neighbour } from "./walk";

const NODES = { task: TaskNode, wave: WaveNode };
const MAP = { width: 160, height: 100 };
const SMALLEST = 0.05;
const READABLE = 0.5; // a zoom at which titles can be read
const AT_WORK: readonly string[] = ["running", "verifying", "merging"];

interface FlowProps {
  graph: Graph;
  hidden: ReadonlySet<Kind>;
  open(id: string): void;
}

export function Flow(props: FlowProps) {
  return (
    <ReactFlowProvider>
      <Drawing {...props} />
    </ReactFlowProvider>
  );
}

function Drawing({ graph, hidden, open }: FlowProps) {
  const { theme } = useTheme();
  const { waves, edges, conflicts, criticalPath, nodes } = graph;
  const shape = useMemo(() => shapeOf({ waves, edges }), [waves, edges]);
  const layout = useMemo(() => laidOut(shape), [shape]);
  const known = useMemo(() => ({ layout, elements: new WeakMap() }), [layout]);
  const heads = useMemo(() => wavesOf(layout, waves), [layout, waves]);
  const lines = useMemo(
    () => linesOf({ edges, conflicts, criticalPath }, layout),
    [edges, conflicts, criticalPath, layout],
  );
  const shown = useMemo(() => lines.filter(({ kind }) => !hidden.has(kind)), [lines, hidden]);
  const drawn = [...heads, ...tasksOf({ ...graph, nodes }, known.layout, known.elements)];
  const flow = useReactFlow();
  const frame = useRef<HTMLDivElement>(null);
  const bring = useBring(layout, frame);
  const walk = useCallback(
    (from: string, arrow: Arrow) => lookAt({ current: neighbour(layout, shape, from, arrow), take: true }),
    [layout, shape],
  );
  const acts = useMemo(() => ({ open, walk }), [open, walk]);
  useFirst(graph);
  const begin = () => {
    const { width = 0, height = 0 } = frame.current?.getBoundingClientRect() ?? {};
    const whole = getViewportForBounds(flow.getNodesBounds(drawn), width, height, SMALLEST, 1, 0.1);
    if (whole.zoom >= READABLE) void flow.setViewport(whole);
    else bring(first(graph), READABLE + 0.2);
  };
  return (
    <Acts value={acts}>
      <div ref={frame} className={styles.flow}>
        <ReactFlow<TaskElement | WaveElement>
          colorMode={theme}
          nodes={drawn}
          nodeTypes={NODES}
          onInit={begin}
          onNodeMouseEnter={(_, { id, type }) => type === "task" && lookAt({ over: id })}
          onNodeMouseLeave={() => lookAt({ over: null })}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          elementsSelectable={false}
          disableKeyboardA11y
          deleteKeyCode={null}
          selectionKeyCode={null}
          multiSelectionKeyCode={null}
          panActivationKeyCode={null}
          onlyRenderVisibleElements
          panOnScroll
          zoomOnDoubleClick={false}
          minZoom={SMALLEST}
          maxZoom={1.6}
          aria-label="Graph of the tasks"
        >
          <Lines lines={shown} />
          <Zoom />
          <MiniMap
            className={styles.map ?? ""}
            style={MAP}
            position="bottom-right"
            pannable
            ariaLabel="Overview of the graph"
            nodeColor={colour}
            bgColor="var(--surface)"
            maskColor="color-mix(in oklab, var(--pressed), transparent 35%)"
          />
        </ReactFlow>
      </div>
      <Said graph={graph} lines={lines} />
    </Acts>
  );
}

function colour({ type, data }: TaskElement | WaveElement): string {
  return type === "task" && "node" in data ? `var(--${taskTone(data.node.status)})` : "transparent";
}

function Zoom() {
  const flow = useReactFlow();
  const fit = () => void flow.fitView({ padding: 0.1, maxZoom: 1, duration: pace() });
  useCommands([
    { id: "graph.fit", title: "Show the whole graph", group: "Graph", keys: ["f"], run: fit },
    { id: "graph.in", title: "Zoom in", group: "Graph", keys: ["+", "="], run: () => void flow.zoomIn() },
    { id: "graph.out", title: "Zoom out", group: "Graph", keys: ["-"], run: () => void flow.zoomOut() },
  ]);
  return (
    <Panel position="top-right" className={styles.zoom ?? ""}>
      <Button icon label="Zoom in" onClick={() => void flow.zoomIn()}>
        <Icon name="plus" />
      </Button>
      <Button icon label="Zoom out" onClick={() => void flow.zoomOut()}>
        <Icon name="minus" />
      </Button>
      <Button icon label="Show the whole graph" onClick={fit}>
        <Icon name="wide" />
      </Button>
    </Panel>
  );
}

/** Tab leads to something as soon as there is anything. */
function useFirst(graph: Graph): void {
  const start = first(graph);
  useEffect(() => {
    if (useLooking.getState().current === null) lookAt({ current: start });
  }, [start]);
}

/** What is at work, or else where the longest path begins. */
function first({ nodes, criticalPath }: Graph): string | null {
  return (
    nodes.find(({ status }) => AT_WORK.includes(status))?.taskId ??
    criticalPath[0] ??
    nodes[0]?.taskId ??
    null
  );
}

/** Brings a task into the middle, if it can't be seen or read; and the current one, whenever it changes. */
function useBring(layout: Layout, frame: RefObject<HTMLElement | null>) {
  const flow = useReactFlow();
  const bring = useCallback(
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
  useEffect(
    () =>
      useLooking.subscribe((now, before) => {
        if (now.current !== before.current && (now.take || now.found !== null)) bring(now.current);
      }),
    [bring],
  );
  return bring;
}

function inside(flow: ReturnType<typeof useReactFlow>, { x, y }: Point, seen: DOMRect): boolean {
  const from = flow.flowToScreenPosition({ x, y });
  const to = flow.flowToScreenPosition({ x: x + NODE.width, y: y + NODE.height });
  return from.x >= seen.left && from.y >= seen.top && to.x <= seen.right && to.y <= seen.bottom;
}

function pace(): number {
  return window.matchMedia("(prefers-reduced-motion: reduce)").matches ? 0 : 200;
}
