import { useShallow } from "zustand/react/shallow";
import type { Graph } from "../api/types";
import { word } from "../parts/Status";
import type { Line } from "./elements";
import styles from "./Flow.module.css";
import { linksOf, sentence } from "./kinds";
import { useLooking } from "./looking";

/** What is under the pointer or has the keyboard, in words. It is a line of its own, so that nothing is covered. */
export function Said({ graph, lines }: { graph: Graph; lines: readonly Line[] }) {
  const { line, over } = useLooking(useShallow((looking) => ({ line: looking.line, over: looking.over })));
  const words = lines.find(({ id }) => id === line)?.words;
  return (
    <p className={styles.said} data-hint={(words === undefined && over === null) || undefined}>
      {words ?? (over === null ? "Arrow keys go from task to task, Enter opens one." : ofTask(graph, over))}
    </p>
  );
}

function ofTask(graph: Graph, id: string): string {
  const node = graph.nodes.find(({ taskId }) => taskId === id);
  if (node === undefined) return "";
  const why = linksOf(graph).filter(({ from, to, kind }) => to === id || (kind === "file" && from === id));
  const stands = node.reason === "" ? word(node.status) : `${word(node.status)}: ${node.reason}`;
  return [`${id} is ${stands}`, ...why.map(sentence)].join(" · ");
}
