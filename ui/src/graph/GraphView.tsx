import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { api, unwrap } from "../api/client";
import type { Graph } from "../api/types";
import { useOpenTask } from "../app/routes";
import { BatchHeader, LoadError } from "../batch/BatchHeader";
import { useCommands } from "../commands/commands";
import { EmptyState, LoadingState } from "../components/EmptyState";
import { SearchField } from "../components/SearchField";
import { SegmentedControl } from "../components/SegmentedControl";
import { pluralize } from "../model/format";
import { EDGE_KIND_NAMES, EDGE_KINDS, type EdgeKind, type GraphNode } from "./edges";
import { GraphCanvas } from "./GraphCanvas";
import { GraphList } from "./GraphList";
import styles from "./GraphView.module.css";
import { resetGraphFocus, setGraphFocus, useGraphFocus } from "./graphFocus";

export default function GraphView({ batchId }: { batchId: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["batch", batchId, "graph"],
    queryFn: ({ signal }) =>
      unwrap(api.GET("/api/batches/{batch_id}/graph", { signal, params: { path: { batch_id: batchId } } })),
  });
  return (
    <div className={styles.view}>
      <BatchHeader batchId={batchId} />
      {data ? (
        <GraphContent key={data.batchId} graph={data} />
      ) : error ? (
        <LoadError error={error} onRetry={() => void refetch()} />
      ) : (
        <LoadingState what="Loading the graph" />
      )}
    </div>
  );
}

const NARROW_QUERY = "(max-width: 720px)";

function GraphContent({ graph }: { graph: Graph }) {
  const [list, setList] = useState(() => window.matchMedia(NARROW_QUERY).matches);
  const [hidden, setHidden] = useState<ReadonlySet<EdgeKind>>(new Set());
  const open = useOpenInBatch(graph.batchId);
  const matches = useGraphFocus((focus) => focus.matches);
  useEffect(() => resetGraphFocus, []);
  useCommands([
    {
      id: "graph.list",
      title: list ? "Show as a graph" : "Show as a list",
      group: "Graph",
      keys: ["l"],
      run: () => setList(!list),
    },
  ]);
  if (graph.nodes.length === 0)
    return <EmptyState title="This batch has no tasks">The graph shows the tasks of a batch.</EmptyState>;
  const kinds = EDGE_KINDS.filter((kind) =>
    kind === "file" ? graph.conflicts.length > 0 : graph.edges.some((edge) => edge.kind === kind),
  );
  const toggle = (kind: EdgeKind) => setHidden(toggleKind(hidden, kind));
  return (
    <>
      <div className={styles.toolbar}>
        <GraphFind nodes={graph.nodes} />
        {!list && (
          <Legend
            kinds={kinds}
            hidden={hidden}
            showCriticalPath={graph.criticalPath.length > 1}
            toggle={toggle}
          />
        )}
        <SegmentedControl
          className={styles.listToggle}
          legend="Shown as"
          options={{ graph: "Graph", list: "List" }}
          selected={list ? "list" : "graph"}
          onSelect={(shape) => setList(shape === "list")}
        />
      </div>
      {list ? (
        <GraphList graph={graph} matches={matches} open={open} />
      ) : (
        <GraphCanvas graph={graph} hidden={hidden} open={open} />
      )}
    </>
  );
}

/** Stable per batch, because every task node uses it. */
function useOpenInBatch(batch: string): (task: string) => void {
  const [, setOpen] = useOpenTask();
  const latest = useRef(setOpen);
  latest.current = setOpen;
  return useCallback((task: string) => latest.current({ task, batch }), [batch]);
}

function toggleKind(hidden: ReadonlySet<EdgeKind>, kind: EdgeKind): ReadonlySet<EdgeKind> {
  const next = new Set(hidden);
  if (!next.delete(kind)) next.add(kind);
  return next;
}

/** Highlights matching tasks; Enter goes to the next one. */
function GraphFind({ nodes }: { nodes: readonly GraphNode[] }) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const matches = useGraphFocus((focus) => focus.matches);
  useCommands([
    {
      id: "graph.find",
      title: "Find a task in the graph",
      group: "Graph",
      keys: ["/"],
      run: () => input.current?.focus(),
    },
  ]);
  const search = (words: string) => {
    setText(words);
    if (words.trim() === "") setGraphFocus({ matches: null, hovered: null });
    else setGraphFocus({ matches: new Set(findTasks(nodes, words)) });
  };
  const next = () => {
    const ids = [...(matches ?? [])];
    const at = ids.indexOf(useGraphFocus.getState().current ?? "");
    const id = ids[(at + 1) % ids.length];
    if (id !== undefined) setGraphFocus({ current: id, hovered: id });
  };
  return (
    <search className={styles.find}>
      <SearchField
        ref={input}
        className={styles.field}
        label="Find a task"
        placeholder="Find a task"
        value={text}
        onSearch={search}
        onKeyDown={(event) => {
          if (event.key === "Enter") next();
          else if (event.key === "Escape") text === "" ? input.current?.blur() : search("");
          else return;
          event.preventDefault();
        }}
      />
      <span className={styles.matchCount} role="status">
        {matches === null ? "" : matches.size === 0 ? "no task" : pluralize(matches.size, "task")}
      </span>
    </search>
  );
}

interface LegendProps {
  /** The kinds of edges in this graph. */
  kinds: readonly EdgeKind[];
  hidden: ReadonlySet<EdgeKind>;
  showCriticalPath: boolean;
  toggle(kind: EdgeKind): void;
}

/** The legend of edge kinds; each can be hidden. */
function Legend({ kinds, hidden, showCriticalPath, toggle }: LegendProps) {
  if (kinds.length === 0) return null;
  return (
    <fieldset className={styles.legend}>
      <legend className="visually-hidden">Lines</legend>
      {kinds.map((kind) => (
        <button
          key={kind}
          type="button"
          className={styles.kind}
          aria-pressed={!hidden.has(kind)}
          title={hidden.has(kind) ? "Show these lines" : "Hide these lines"}
          onClick={() => toggle(kind)}
        >
          <LineSample kind={kind} />
          {EDGE_KIND_NAMES[kind]}
        </button>
      ))}
      {showCriticalPath && (
        <span className={styles.criticalPath}>
          <LineSample kind="need" critical />
          Longest path
        </span>
      )}
    </fieldset>
  );
}

function LineSample({ kind, critical = false }: { kind: EdgeKind; critical?: boolean }) {
  return (
    <svg
      className={styles.sample}
      data-kind={kind}
      data-critical={critical || undefined}
      width="24"
      height="8"
      aria-hidden="true"
    >
      <path d={kind === "file" ? "M1 4h22" : "M1 4h18M18 1.5l4 2.5-4 2.5z"} />
    </svg>
  );
}

/** The ids of the tasks that have all of these words in their id or title, in the order given. Pure. */
function findTasks(nodes: readonly { taskId: string; title: string }[], text: string): string[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  return nodes
    .filter(({ taskId, title }) => {
      const searchText = `${taskId} ${title}`.toLowerCase();
      return words.every((word) => searchText.includes(word));
    })
    .map(({ taskId }) => taskId);
}
