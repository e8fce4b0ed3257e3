import "@xyflow/react/dist/style.css";
import { ReactFlow, ReactFlowProvider } from "@xyflow/react";
import { useCallback, useEffect, useMemo, useRef } from "react";
import type { Graph } from "../api/types";
import { useTheme } from "../app/theme";
import { Loading } from "../parts/Empty";
import { Acts } from "./acts";
import { linesOf } from "./elements";
import styles from "./Flow.module.css";
import type { Kind } from "./kinds";
import { Lines } from "./Lines";
import { type Layout, type Shape, shapeOf } from "./layout";
import { lookAt, useLooking } from "./looking";
import { Overview } from "./Overview";
import { Said } from "./Said";
import { Tasks } from "./Tasks";
import { useLayout } from "./useLayout";
import { SMALLEST, useView } from "./useView";
import { type Arrow, neighbour } from "./walk";
import { Zoom } from "./Zoom";

const AT_WORK: readonly string[] = ["running", "verifying", "merging"];
/** React Flow moves the view; whatever is in it is drawn here. */
const SURFACE = {
  disableKeyboardA11y: true,
  deleteKeyCode: null,
  selectionKeyCode: null,
  multiSelectionKeyCode: null,
  panActivationKeyCode: null,
  panOnScroll: true,
  zoomOnDoubleClick: false,
  minZoom: SMALLEST,
  maxZoom: 1.6,
  "aria-label": "Graph of the tasks",
} as const;

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
  const { waves, edges } = graph;
  const shape = useMemo(() => shapeOf({ waves, edges }), [waves, edges]);
  const layout = useLayout(shape);
  return layout === null ? (
    <Loading what="Laying out the graph" />
  ) : (
    <Laid graph={graph} hidden={hidden} open={open} shape={shape} layout={layout} />
  );
}

interface LaidProps extends FlowProps {
  shape: Shape;
  layout: Layout;
}

function Laid({ graph, hidden, open, shape, layout }: LaidProps) {
  const { theme } = useTheme();
  const { edges, conflicts, criticalPath } = graph;
  const lines = useMemo(
    () => linesOf({ edges, conflicts, criticalPath }, layout),
    [edges, conflicts, criticalPath, layout],
  );
  const frame = useRef<HTMLDivElement>(null);
  const view = useView(layout, frame);
  const walk = useCallback(
    (from: string, arrow: Arrow) => lookAt({ current: neighbour(layout, shape, from, arrow), take: true }),
    [layout, shape],
  );
  const acts = useMemo(() => ({ open, walk }), [open, walk]);
  useFirst(graph);
  return (
    <Acts value={acts}>
      <div ref={frame} className={styles.flow}>
        <ReactFlow colorMode={theme} onInit={() => view.begin(first(graph))} {...SURFACE}>
          <Lines lines={lines} hidden={hidden} />
          <Tasks graph={graph} layout={layout} />
          <Zoom fit={view.fit} />
          <Overview nodes={graph.nodes} layout={layout} />
        </ReactFlow>
      </div>
      <Said graph={graph} lines={lines} />
    </Acts>
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
