import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { api, unwrap } from "../api/client";
import type { Graph } from "../api/types";
import { useOpenTask } from "../app/address";
import { BatchHeader } from "../batch/BatchHeader";
import { useCommands } from "../commands/commands";
import { EmptyState, LoadingState } from "../parts/Empty";
import { GraphFind } from "./Find";
import { GraphCanvas } from "./Flow";
import { GraphList } from "./GraphList";
import styles from "./GraphView.module.css";
import { EDGE_KINDS, type EdgeKind } from "./kinds";
import { Legend } from "./Legend";
import { resetGraphFocus, useGraphFocus } from "./looking";
import { ListToggle } from "./Switch";
import { LoadError } from "./Unread";

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
  const matches = useGraphFocus((looking) => looking.matches);
  useEffect(() => resetGraphFocus, []);
  useCommands([
    {
      id: "graph.list",
      title: list ? "Show the graph" : "Show the graph as a list",
      group: "Graph",
      keys: ["l"],
      run: () => setList(!list),
    },
  ]);
  if (graph.nodes.length === 0)
    return <EmptyState title="This batch has no tasks">A graph is drawn where there are some.</EmptyState>;
  const kinds = EDGE_KINDS.filter((kind) =>
    kind === "file" ? graph.conflicts.length > 0 : graph.edges.some((edge) => edge.kind === kind),
  );
  const toggle = (kind: EdgeKind) => setHidden(toggleKind(hidden, kind));
  return (
    <>
      <div className={styles.bar}>
        <GraphFind nodes={graph.nodes} />
        {!list && (
          <Legend
            kinds={kinds}
            hidden={hidden}
            showCriticalPath={graph.criticalPath.length > 1}
            toggle={toggle}
          />
        )}
        <ListToggle list={list} set={setList} />
      </div>
      {list ? (
        <GraphList graph={graph} matches={matches} open={open} />
      ) : (
        <GraphCanvas graph={graph} hidden={hidden} open={open} />
      )}
    </>
  );
}

/** The same function as long as the batch is the same: a thousand tasks hold it. */
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
