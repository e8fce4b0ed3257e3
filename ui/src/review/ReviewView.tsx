/* A batch before it is shipped: merges in order, conflicts, gate, full diff and pull request. */

import { lazy, Suspense, useState } from "react";
import { useSearchParams } from "wouter";
import { useBatch, useMergedChanges, useTimeline } from "../api/queries";
import type { Batch } from "../api/types";
import { BatchHeader, LoadError } from "../batch/BatchHeader";
import { LoadingState } from "../components/EmptyState";
import { SegmentedControl } from "../components/SegmentedControl";
import { Conflicts, PredictedConflicts } from "./Conflicts";
import { GateSection } from "./Gate";
import { MergedTasks, PendingTasks, ReadFirst, Unmerged } from "./ReviewTasks";
import styles from "./ReviewView.module.css";
import { groupTasks, isRebuilding } from "./reviewGroups";
import { ShipPanel } from "./ShipPanel";

const VIEW_LABELS = { tasks: "Task by task", change: "Full diff" };
const DiffView = lazy(() => import("../diff/DiffView"));

export default function ReviewView({ batchId }: { batchId: string }) {
  const batch = useBatch(batchId);
  const [search, setSearch] = useSearchParams();
  const showDiff = search.get("view") === "change";
  const setView = (view: string | null) =>
    setSearch((now) => {
      const next = new URLSearchParams(now);
      if (view === null) next.delete("view");
      else next.set("view", view);
      return next;
    });
  return (
    <div className={styles.review}>
      <BatchHeader batchId={batchId} />
      {batch.data && (
        <SegmentedControl
          legend="Review mode"
          options={VIEW_LABELS}
          selected={showDiff ? "change" : "tasks"}
          onSelect={(view) => setView(view === "change" ? view : null)}
          className={styles.choice}
        />
      )}
      {showDiff ? (
        <>
          <h2 className="visually-hidden">Full diff</h2>
          <Suspense fallback={<LoadingState what="Loading the diff" />}>
            <DiffView batchId={batchId} taskId={null} />
          </Suspense>
        </>
      ) : batch.data ? (
        <TaskByTask batch={batch.data} />
      ) : batch.error ? (
        <LoadError error={batch.error} onRetry={() => void batch.refetch()} />
      ) : (
        <LoadingState what="Loading the batch" />
      )}
    </div>
  );
}

function TaskByTask({ batch }: { batch: Batch }) {
  const { data: timeline } = useTimeline(batch.id);
  const { merged, conflicted, unmerged, pending } = groupTasks(batch, timeline);
  const { data: changes } = useMergedChanges(batch.id, merged.at(-1)?.commit ?? null);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const onOpen = (taskId: string, on: boolean) =>
    setOpen((now) => new Set(on ? [...now, taskId] : [...now].filter((each) => each !== taskId)));
  return (
    <div className={styles.scroll}>
      <div className={styles.columns}>
        <div className={styles.tasks}>
          {isRebuilding(timeline) && (
            <p className={styles.rebuilding} role="status">
              Rebuilding the batch branch without the dropped tasks.
            </p>
          )}
          <GateSection batch={batch} timeline={timeline} />
          <Conflicts batchId={batch.id} tasks={conflicted} />
          <Unmerged batchId={batch.id} tasks={unmerged} />
          <ReadFirst tasks={merged} timeline={timeline} changes={changes} onOpen={onOpen} />
          <MergedTasks
            batch={batch}
            tasks={merged}
            pending={pending}
            timeline={timeline}
            changes={changes}
            open={open}
            onOpen={onOpen}
          />
          <PendingTasks batchId={batch.id} tasks={pending} open={open} onOpen={onOpen} />
          <PredictedConflicts tasks={pending} />
        </div>
        <ShipPanel batch={batch} />
      </div>
    </div>
  );
}
