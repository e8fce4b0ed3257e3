import "@xyflow/react/dist/style.css";
import { Panel, ReactFlow, ReactFlowProvider, useReactFlow } from "@xyflow/react";
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useShallow } from "zustand/react/shallow";
import type { Graph } from "../api/types";
import { useTheme } from "../app/theme";
import { useCommands } from "../commands/commands";
import { Button } from "../components/Button";
import { LoadingState } from "../components/EmptyState";
import { Icon } from "../components/Icon";
import { statusText } from "../components/Status";
import { isAtWork } from "../model/columns";
import { spellOutBidi } from "../model/format";
import { EdgeLayer } from "./EdgeLayer";
import { describeEdge, type EdgeKind, type EdgeRoute, listEdges, routeEdges } from "./edges";
import styles from "./GraphCanvas.module.css";
import { graphShape, type Layout, type Shape } from "./geometry";
import { type Arrow, findChain, neighbour, setGraphFocus, useGraphFocus } from "./graphFocus";
import { MiniMap } from "./MiniMap";
import { PhaseBands, StickyHeaders } from "./PhaseBands";
import { GraphActionsContext, TaskNodes } from "./TaskNodes";
import { MIN_ZOOM, useViewport } from "./useViewport";

/** React Flow handles pan and zoom; the content is rendered here. */
const CANVAS_PROPS = {
  disableKeyboardA11y: true,
  deleteKeyCode: null,
  selectionKeyCode: null,
  multiSelectionKeyCode: null,
  panActivationKeyCode: null,
  panOnScroll: true,
  zoomOnDoubleClick: false,
  minZoom: MIN_ZOOM,
  maxZoom: 1.6,
  "aria-label": "Task graph",
} as const;

interface GraphCanvasProps {
  graph: Graph;
  hidden: ReadonlySet<EdgeKind>;
  open(id: string): void;
}

export function GraphCanvas(props: GraphCanvasProps) {
  return (
    <ReactFlowProvider>
      <LayoutLoader {...props} />
    </ReactFlowProvider>
  );
}

function LayoutLoader({ graph, hidden, open }: GraphCanvasProps) {
  const shape = useShape(graph);
  const layout = useGraphLayout(shape);
  return layout === null ? (
    <LoadingState what="Laying out the graph" />
  ) : (
    <Canvas graph={graph} hidden={hidden} open={open} shape={shape} layout={layout} />
  );
}

/** The same object as long as the plan is the same, whatever the statuses: nothing is laid out again. */
function useShape(graph: Graph): Shape {
  const latest = useRef<{ text: string; shape: Shape }>(null);
  return useMemo(() => {
    const shape = graphShape(graph);
    const text = JSON.stringify(shape);
    if (latest.current?.text !== text) latest.current = { text, shape };
    return latest.current.shape;
  }, [graph]);
}

interface CanvasProps extends GraphCanvasProps {
  shape: Shape;
  layout: Layout;
}

function Canvas({ graph, hidden, open, shape, layout }: CanvasProps) {
  const { theme } = useTheme();
  const { edges, conflicts, criticalPath } = graph;
  const edgeRoutes = useMemo(
    () => routeEdges({ edges, conflicts, criticalPath }, layout),
    [edges, conflicts, criticalPath, layout],
  );
  const frame = useRef<HTMLDivElement>(null);
  const view = useViewport(layout, frame);
  const moveTo = useCallback(
    (from: string, arrow: Arrow) =>
      setGraphFocus({ current: neighbour(layout, shape, from, arrow), takeFocus: true }),
    [layout, shape],
  );
  const actions = useMemo(() => ({ open, moveTo }), [open, moveTo]);
  useInitialFocus(graph);
  useChainHighlight(edges, frame);
  return (
    <GraphActionsContext value={actions}>
      <div ref={frame} className={styles.canvas}>
        <ReactFlow colorMode={theme} onInit={() => view.showInitial(runningTask(graph))} {...CANVAS_PROPS}>
          <PhaseBands bands={layout.bands} />
          <EdgeLayer edges={edgeRoutes} hidden={hidden} />
          <TaskNodes graph={graph} layout={layout} />
          <StickyHeaders waves={graph.waves} bands={layout.bands} />
          <ZoomControls fit={view.fit} />
          <MiniMap nodes={graph.nodes} layout={layout} />
        </ReactFlow>
      </div>
      <HoverText graph={graph} edges={edgeRoutes} />
    </GraphActionsContext>
  );
}

/** Makes one task reachable with Tab as soon as there is one. */
function useInitialFocus(graph: Graph): void {
  const start = initialTask(graph);
  useEffect(() => {
    if (useGraphFocus.getState().current === null) setGraphFocus({ current: start });
  }, [start]);
}

/** A running task, else the start of the longest path. */
function initialTask(graph: Graph): string | null {
  return runningTask(graph) ?? graph.criticalPath[0] ?? graph.nodes[0]?.taskId ?? null;
}

function runningTask({ nodes }: Graph): string | null {
  return nodes.find(({ status }) => isAtWork(status))?.taskId ?? null;
}

/** Everything outside of the chain is dimmed by this attribute, so that only the chain renders again. */
function useChainHighlight(edges: Graph["edges"], frame: RefObject<HTMLElement | null>): void {
  useEffect(
    () =>
      useGraphFocus.subscribe(({ hovered }, before) => {
        if (hovered === before.hovered) return;
        const chain = hovered === null ? null : findChain(edges, hovered);
        const shown = chain !== null && chain.size > 1 ? chain : null;
        frame.current?.toggleAttribute("data-chain", shown !== null);
        setGraphFocus({ chain: shown });
      }),
    [edges, frame],
  );
}

function ZoomControls({ fit }: { fit(): void }) {
  const flow = useReactFlow();
  useCommands([
    { id: "graph.fit", title: "Show the whole graph", group: "Graph", keys: ["f"], run: fit },
    { id: "graph.in", title: "Zoom in", group: "Graph", keys: ["+", "="], run: () => void flow.zoomIn() },
    { id: "graph.out", title: "Zoom out", group: "Graph", keys: ["-"], run: () => void flow.zoomOut() },
  ]);
  return (
    <Panel position="bottom-left" className={styles.zoom ?? ""}>
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

/** Describes the hovered or focused element, on a line of its own so that nothing is covered. */
function HoverText({ graph, edges }: { graph: Graph; edges: readonly EdgeRoute[] }) {
  const { line, over } = useGraphFocus(
    useShallow((focus) => ({ line: focus.hoveredEdge, over: focus.hovered })),
  );
  const label = edges.find(({ id }) => id === line)?.label;
  return (
    <p className={styles.hoverText} data-hint={(label === undefined && over === null) || undefined}>
      {label ??
        (over === null
          ? "Use the arrow keys to move between tasks and Enter to open one."
          : describeTask(graph, over))}
    </p>
  );
}

function describeTask(graph: Graph, id: string): string {
  const node = graph.nodes.find(({ taskId }) => taskId === id);
  if (node === undefined) return "";
  const edges = listEdges(graph).filter(
    ({ from, to, kind }) => to === id || (kind === "file" && from === id),
  );
  const reason = spellOutBidi(node.short || node.reason);
  const standing = reason === "" ? statusText(node.status) : `${statusText(node.status)}: ${reason}`;
  return [`${id} is ${standing}`, ...edges.map(describeEdge)].join(" · ");
}

/** `null` until it is computed; then the latest result. */
function useGraphLayout(shape: Shape): Layout | null {
  const [layout, setLayout] = useState<Layout | null>(null);
  useEffect(() => {
    const worker = new Worker(new URL("./layout.worker.ts", import.meta.url), { type: "module" });
    worker.onmessage = ({ data }: MessageEvent<Layout>) => setLayout(data);
    worker.onerror = (event) => {
      event.preventDefault();
      // without workers, the layout blocks the page for a moment
      void import("./layout").then(({ layoutGraph }) => setLayout(layoutGraph(shape)));
    };
    worker.postMessage(shape);
    return () => worker.terminate();
  }, [shape]);
  return layout;
}
