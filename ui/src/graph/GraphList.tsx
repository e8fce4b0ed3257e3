import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useMemo, useRef } from "react";
import type { Graph } from "../api/types";
import { TaskStatusBadge } from "../components/Status";
import { spellOutBidi } from "../model/format";
import { EDGE_KIND_NAMES, type GraphEdge, type GraphNode, listEdges } from "./edges";
import styles from "./GraphList.module.css";

const ROW_HEIGHTS: Record<ListEntry["kind"], number> = { wave: 36, task: 72 };

interface Props {
  graph: Graph;
  matches: ReadonlySet<string> | null;
  open(id: string): void;
}

/** The graph as a list, for small screens and screen readers. */
export function GraphList({ graph, matches, open }: Props) {
  const { edges, conflicts, criticalPath } = graph;
  const edgesByTask = useMemo(() => groupByTask(listEdges({ edges, conflicts })), [edges, conflicts]);
  const criticalIds = useMemo(() => new Set(criticalPath), [criticalPath]);
  const entries = useMemo(() => buildList(graph, matches), [graph, matches]);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => ROW_HEIGHTS[entries[index]?.kind ?? "task"],
    getItemKey: useCallback((index: number) => entries[index]?.key ?? index, [entries]),
    overscan: 12,
    useFlushSync: false,
  });
  return (
    <div ref={scroller} className={styles.list}>
      <ul className={styles.content} style={{ height: virtual.getTotalSize() }} aria-label="Tasks by wave">
        {virtual.getVirtualItems().map(({ key, index, start }) => {
          const entry = entries[index];
          if (entry === undefined) return null;
          return (
            <li
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className={styles.entry}
              style={{ transform: `translateY(${start}px)` }}
              aria-setsize={entries.length}
              aria-posinset={index + 1}
            >
              {entry.kind === "wave" ? (
                <h2 className={styles.wave}>
                  Wave {entry.wave} <span className={styles.count}>{entry.tasks}</span>
                </h2>
              ) : (
                <TaskRow
                  {...entry}
                  edges={edgesByTask.get(entry.node.taskId) ?? []}
                  critical={criticalIds.has(entry.node.taskId)}
                  open={open}
                />
              )}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

interface TaskRowProps {
  node: GraphNode;
  first: boolean;
  last: boolean;
  edges: readonly GraphEdge[];
  critical: boolean;
  open(id: string): void;
}

function TaskRow({ node, first, last, edges, critical, open }: TaskRowProps) {
  const { taskId, title, status } = node;
  const reason = spellOutBidi(node.short || node.reason);
  return (
    <div className={styles.row} data-first={first || undefined} data-last={last || undefined}>
      <button type="button" className={styles.task} onClick={() => open(taskId)}>
        {title !== taskId && <span className={styles.id}>{taskId}</span>}
        <span className={styles.title}>{spellOutBidi(title)}</span>
      </button>
      <TaskStatusBadge status={status} />
      {(reason !== "" || critical) && (
        <p className={styles.reason}>
          {[reason, critical && "on the longest path"].filter(Boolean).join(" · ")}
        </p>
      )}
      {edges.length > 0 && (
        <ul className={styles.links} aria-label={`What ${taskId} waits for`}>
          {edges.map((link) => (
            <li key={`${link.kind} ${link.from} ${link.to} ${link.reason}`}>
              <span className={styles.kind}>{EDGE_KIND_NAMES[link.kind]}</span> {formatEdge(link, taskId)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Its dependencies, and files shared with other tasks. */
function groupByTask(edges: readonly GraphEdge[]): Map<string, GraphEdge[]> {
  const found = new Map<string, GraphEdge[]>();
  const add = (id: string, link: GraphEdge) => found.set(id, [...(found.get(id) ?? []), link]);
  for (const link of edges) {
    add(link.to, link);
    if (link.kind === "file") add(link.from, link);
  }
  return found;
}

function formatEdge({ from, to, kind, reason, at }: GraphEdge, taskId: string): string {
  if (kind === "file") return `${spellOutBidi(reason)} with ${from === taskId ? to : from}`;
  const where = at === null || reason.includes(at) ? "" : ` (${at})`;
  return `${from}: ${spellOutBidi(reason)}${where}`;
}

type ListEntry =
  | { readonly kind: "wave"; readonly key: string; readonly wave: number; readonly tasks: number }
  | {
      readonly kind: "task";
      readonly key: string;
      readonly node: GraphNode;
      /** Its position within its wave. */
      readonly first: boolean;
      readonly last: boolean;
    };

/** During a search, only tasks in `found`; waves without any are left out. */
export function buildList(
  { nodes, waves }: Pick<Graph, "nodes" | "waves">,
  matches: ReadonlySet<string> | null,
): ListEntry[] {
  const byId = new Map(nodes.map((node) => [node.taskId, node]));
  return waves.flatMap((wave, at): ListEntry[] => {
    const shown = wave.flatMap((id) => (matches === null || matches.has(id) ? (byId.get(id) ?? []) : []));
    if (shown.length === 0) return [];
    return [
      { kind: "wave", key: `wave ${at + 1}`, wave: at + 1, tasks: wave.length },
      ...shown.map((node, place) => ({
        kind: "task" as const,
        key: `task ${node.taskId}`,
        node,
        first: place === 0,
        last: place === shown.length - 1,
      })),
    ];
  });
}
