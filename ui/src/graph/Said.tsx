import { useShallow } from "zustand/react/shallow";
import type { Graph } from "../api/types";
import { statusText } from "../parts/Status";
import type { EdgeRoute } from "./elements";
import styles from "./Flow.module.css";
import { describeEdge, listEdges } from "./kinds";
import { useGraphFocus } from "./looking";

/** What is under the pointer or has the keyboard, in words. It is a line of its own, so that nothing is covered. */
export function HoverText({ graph, edges }: { graph: Graph; edges: readonly EdgeRoute[] }) {
  const { line, over } = useGraphFocus(
    useShallow((looking) => ({ line: looking.hoveredEdge, over: looking.hovered })),
  );
  const label = edges.find(({ id }) => id === line)?.label;
  return (
    <p className={styles.said} data-hint={(label === undefined && over === null) || undefined}>
      {label ??
        (over === null ? "Arrow keys go from task to task, Enter opens one." : describeTask(graph, over))}
    </p>
  );
}

function describeTask(graph: Graph, id: string): string {
  const node = graph.nodes.find(({ taskId }) => taskId === id);
  if (node === undefined) return "";
  const edges = listEdges(graph).filter(
    ({ from, to, kind }) => to === id || (kind === "file" && from === id),
  );
  const standing =
    node.reason === "" ? statusText(node.status) : `${statusText(node.status)}: ${node.reason}`;
  return [`${id} is ${standing}`, ...edges.map(describeEdge)].join(" · ");
}
