/* What a batch made, read before it is shipped: its merges in order, its conflicts, its gate, its whole change, its pull request. */

import { lazy, Suspense, useState } from "react";
import { useSearchParams } from "wouter";
import type { Batch } from "../api/types";
import { BatchHeader } from "../batch/BatchHeader";
import { Choice } from "../parts/Choice";
import { Failure, Loading } from "../parts/Empty";
import { useTimeline } from "../timeline/useTimeline";
import { Conflicts } from "./Conflicts";
import { Foreseen } from "./Foreseen";
import { Gate } from "./Gate";
import { LeftOut } from "./LeftOut";
import { AtWork, Merged } from "./Merged";
import { rebuilding, sorted } from "./order";
import styles from "./ReviewView.module.css";
import { Ship } from "./Ship";
import { useBatch } from "./useBatch";

const VIEWS = { tasks: "Task by task", change: "Whole change" };
const DiffView = lazy(() => import("../diff/DiffView"));

export default function ReviewView({ batchId }: { batchId: string }) {
  const batch = useBatch(batchId);
  const [search, setSearch] = useSearchParams();
  const whole = search.get("view") === "change";
  const show = (view: string | null) =>
    setSearch((now) => {
      const next = new URLSearchParams(now);
      if (view === null) next.delete("view");
      else next.set("view", view);
      return next;
    });
  return (
    <div className={styles.review}>
      <BatchHeader batchId={batchId} />
      <Choice
        legend="What is shown of the batch"
        options={VIEWS}
        chosen={whole ? "change" : "tasks"}
        onChoose={(view) => show(view === "change" ? view : null)}
        className={styles.choice}
      />
      {whole ? (
        <>
          <h2 className="unseen">The whole change</h2>
          <Suspense fallback={<Loading what="Reading the change" />}>
            <DiffView batchId={batchId} taskId={null} />
          </Suspense>
        </>
      ) : batch.data ? (
        <TaskByTask batch={batch.data} />
      ) : batch.error ? (
        <Failure error={batch.error} again={() => void batch.refetch()} />
      ) : (
        <Loading what="Reading the batch" />
      )}
    </div>
  );
}

function TaskByTask({ batch }: { batch: Batch }) {
  const { data: timeline } = useTimeline(batch.id);
  const { merged, conflicted, left, coming } = sorted(batch, timeline);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const onOpen = (taskId: string, on: boolean) =>
    setOpen((now) => new Set(on ? [...now, taskId] : [...now].filter((each) => each !== taskId)));
  return (
    <div className={styles.scroll}>
      <div className={styles.columns}>
        <div className={styles.tasks}>
          {rebuilding(timeline) && (
            <p className={styles.rebuilding} role="status">
              The branch is being made anew without what was dropped.
            </p>
          )}
          <Gate batch={batch} timeline={timeline} />
          <Conflicts batchId={batch.id} tasks={conflicted} />
          <Merged
            batch={batch}
            tasks={merged}
            coming={coming}
            timeline={timeline}
            open={open}
            onOpen={onOpen}
          />
          <AtWork batchId={batch.id} tasks={coming} open={open} onOpen={onOpen} />
          <Foreseen tasks={coming} />
          <LeftOut batchId={batch.id} tasks={left} />
        </div>
        <Ship batch={batch} />
      </div>
    </div>
  );
}
