import "@xyflow/react/dist/style.css";
import { ReactFlow, ReactFlowProvider } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef } from "react";
import type { Graph } from "../api/types";
import { useTheme } from "../app/theme";
import { LoadingState } from "../parts/Empty";
import { GraphActionsContext } from "./acts";
import { routeEdges } from "./elements";
import styles from "./Flow.module.css";
import type { EdgeKind } from "./kinds";
import { EdgeLayer } from "./Lines";
import { graphShape, type Layout, type Shape } from "./layout";
import { setGraphFocus, useGraphFocus } from "./looking";
import { MiniMap } from "./Overview";
import { HoverText } from "./Said";
import { TaskNodes } from "./Tasks";
import { useGraphLayout } from "./useLayout";
import { MIN_ZOOM, useViewport } from "./useView";
import { type Arrow, neighbour } from "./walk";
import { ZoomControls } from "./Zoom";

const ACTIVE: readonly string[] = ["running", "verifying", "merging"];
/** React Flow moves the view; whatever is in it is drawn here. */
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
  "aria-label": "Graph of the tasks",
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
  const { waves, edges } = graph;
  const shape = useMemo(() => graphShape({ waves, edges }), [waves, edges]);
  const layout = useGraphLayout(shape);
  return layout === null ? (
    <LoadingState what="Laying out the graph" />
  ) : (
    <Canvas graph={graph} hidden={hidden} open={open} shape={shape} layout={layout} />
  );
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
  return (
    <GraphActionsContext value={actions}>
      <div ref={frame} className={styles.flow}>
        <ReactFlow colorMode={theme} onInit={() => view.showInitial(initialTask(graph))} {...CANVAS_PROPS}>
          <EdgeLayer edges={edgeRoutes} hidden={hidden} />
          <TaskNodes graph={graph} layout={layout} />
          <ZoomControls fit={view.fit} />
          <MiniMap nodes={graph.nodes} layout={layout} />
        </ReactFlow>
      </div>
      <HoverText graph={graph} edges={edgeRoutes} />
    </GraphActionsContext>
  );
}

/** Tab leads to something as soon as there is anything. */
function useInitialFocus(graph: Graph): void {
  const start = initialTask(graph);
  useEffect(() => {
    if (useGraphFocus.getState().current === null) setGraphFocus({ current: start });
  }, [start]);
}

/** What is at work, or else where the longest path begins. */
function initialTask({ nodes, criticalPath }: Graph): string | null {
  return (
    nodes.find(({ status }) => ACTIVE.includes(status))?.taskId ?? criticalPath[0] ?? nodes[0]?.taskId ?? null
  );
}
