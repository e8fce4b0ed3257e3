import { useVirtualizer } from "@tanstack/react-virtual";
import { useCallback, useMemo, useRef } from "react";
import type { Graph } from "../api/types";
import { TaskBadge } from "../parts/Status";
import type { GraphNode } from "./elements";
import styles from "./GraphList.module.css";
import { KIND_NAMES, type Link, linksOf } from "./kinds";
import { type Entry, listed } from "./listing";

const SIZES: Record<Entry["kind"], number> = { wave: 36, task: 72 };

interface Props {
  graph: Graph;
  found: ReadonlySet<string> | null;
  open(id: string): void;
}

/** The same as the graph, in words: for small screens, and for whoever does not see lines. */
export function GraphList({ graph, found, open }: Props) {
  const { edges, conflicts, criticalPath } = graph;
  const links = useMemo(() => byTask(linksOf({ edges, conflicts })), [edges, conflicts]);
  const path = useMemo(() => new Set(criticalPath), [criticalPath]);
  const entries = useMemo(() => listed(graph, found), [graph, found]);
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: entries.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => SIZES[entries[index]?.kind ?? "task"],
    getItemKey: useCallback((index: number) => entries[index]?.key ?? index, [entries]),
    overscan: 12,
    useFlushSync: false,
  });
  return (
    <div ref={scroller} className={styles.list}>
      <ul className={styles.inside} style={{ height: virtual.getTotalSize() }} aria-label="Tasks by wave">
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
                <Row
                  {...entry}
                  links={links.get(entry.node.taskId) ?? []}
                  critical={path.has(entry.node.taskId)}
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

interface RowProps {
  node: GraphNode;
  first: boolean;
  last: boolean;
  links: readonly Link[];
  critical: boolean;
  open(id: string): void;
}

function Row({ node, first, last, links, critical, open }: RowProps) {
  const { taskId, title, status, reason } = node;
  return (
    <div className={styles.row} data-first={first || undefined} data-last={last || undefined}>
      <button type="button" className={styles.task} onClick={() => open(taskId)}>
        {title !== taskId && <span className={styles.id}>{taskId}</span>}
        <span className={styles.title}>{title}</span>
      </button>
      <TaskBadge status={status} />
      {(reason !== "" || critical) && (
        <p className={styles.reason}>
          {[reason, critical && "on the longest path"].filter(Boolean).join(" · ")}
        </p>
      )}
      {links.length > 0 && (
        <ul className={styles.links} aria-label={`What ${taskId} waits for`}>
          {links.map((link) => (
            <li key={`${link.kind} ${link.from} ${link.to} ${link.reason}`}>
              <span className={styles.kind}>{KIND_NAMES[link.kind]}</span> {told(link, taskId)}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** Its needs, and the files that it shares with others. */
function byTask(links: readonly Link[]): Map<string, Link[]> {
  const found = new Map<string, Link[]>();
  const put = (id: string, link: Link) => found.set(id, [...(found.get(id) ?? []), link]);
  for (const link of links) {
    put(link.to, link);
    if (link.kind === "file") put(link.from, link);
  }
  return found;
}

function told({ from, to, kind, reason, at }: Link, mine: string): string {
  if (kind === "file") return `${reason} with ${from === mine ? to : from}`;
  const where = at === null || reason.includes(at) ? "" : ` (${at})`;
  return `${from}: ${reason}${where}`;
}
