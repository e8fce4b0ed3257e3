import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { api, told } from "../api/client";
import type { Graph } from "../api/types";
import { useOpenTask } from "../app/address";
import { BatchHeader } from "../batch/BatchHeader";
import { useCommands } from "../commands/commands";
import { Empty, Loading } from "../parts/Empty";
import { Find } from "./Find";
import { Flow } from "./Flow";
import { GraphList } from "./GraphList";
import styles from "./GraphView.module.css";
import { KINDS, type Kind } from "./kinds";
import { Legend } from "./Legend";
import { lookAway, useLooking } from "./looking";
import { Switch } from "./Switch";
import { Unread } from "./Unread";

export default function GraphView({ batchId }: { batchId: string }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["batch", batchId, "graph"],
    queryFn: ({ signal }) =>
      told(api.GET("/api/batches/{batch_id}/graph", { signal, params: { path: { batch_id: batchId } } })),
  });
  return (
    <div className={styles.view}>
      <BatchHeader batchId={batchId} />
      {data ? (
        <Drawn key={data.batchId} graph={data} />
      ) : error ? (
        <Unread error={error} again={() => void refetch()} />
      ) : (
        <Loading what="Loading the graph" />
      )}
    </div>
  );
}

const NARROW = "(max-width: 720px)";

function Drawn({ graph }: { graph: Graph }) {
  const [list, setList] = useState(() => window.matchMedia(NARROW).matches);
  const [hidden, setHidden] = useState<ReadonlySet<Kind>>(new Set());
  const open = useOpen(graph.batchId);
  const found = useLooking((looking) => looking.found);
  useEffect(() => lookAway, []);
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
    return <Empty title="This batch has no tasks">A graph is drawn where there are some.</Empty>;
  const kinds = KINDS.filter((kind) =>
    kind === "file" ? graph.conflicts.length > 0 : graph.edges.some((edge) => edge.kind === kind),
  );
  const toggle = (kind: Kind) => setHidden(toggled(hidden, kind));
  return (
    <>
      <div className={styles.bar}>
        <Find nodes={graph.nodes} />
        {!list && (
          <Legend kinds={kinds} hidden={hidden} longest={graph.criticalPath.length > 1} toggle={toggle} />
        )}
        <Switch list={list} set={setList} />
      </div>
      {list ? (
        <GraphList graph={graph} found={found} open={open} />
      ) : (
        <Flow graph={graph} hidden={hidden} open={open} />
      )}
    </>
  );
}

/** The same function as long as the batch is the same: a thousand tasks hold it. */
function useOpen(batch: string): (task: string) => void {
  const [, setOpen] = useOpenTask();
  const latest = useRef(setOpen);
  latest.current = setOpen;
  return useCallback((task: string) => latest.current({ task, batch }), [batch]);
}

function toggled(hidden: ReadonlySet<Kind>, kind: Kind): ReadonlySet<Kind> {
  const next = new Set(hidden);
  if (!next.delete(kind)) next.add(kind);
  return next;
}
