/* The diff of a task or a whole batch. A newer version is offered rather than swapped in while someone reads. */

import { useEffect, useMemo, useRef, useState } from "react";
import { useBatch, useTaskInBatch } from "../api/queries";
import type { Diff } from "../api/types";
import { Button } from "../components/Button";
import { EmptyState, ErrorState, LoadingState } from "../components/EmptyState";
import { DiffPanel } from "./DiffPanel";
import styles from "./DiffView.module.css";
import { batchDiffAvailability, type DiffAvailability, taskDiffAvailability } from "./diffAvailability";
import { useDiff } from "./useDiff";

interface Props {
  batchId: string;
  taskId: string | null;
  /** One of its attempts; else its merged change, or that of the newest attempt. */
  attempt?: number | null;
  /** Only what is different from this earlier attempt. */
  since?: number | null;
  /** What a person made of its nth conflict. */
  resolution?: number | null;
}

export default function DiffView({
  batchId,
  taskId,
  attempt = null,
  since = null,
  resolution = null,
}: Props) {
  const target = useMemo(
    () => ({ batchId, taskId, attempt, since, resolution }),
    [batchId, taskId, attempt, since, resolution],
  );
  const { availability, error, retry, newestAttempt } = useDiffAvailability(batchId, taskId);
  const query = useDiff(target, availability?.version ?? null);
  const [shown, setShown] = useState<Diff | null>(null);
  const reading = useRef({ sheet: false, writing: false });
  const latest = query.data;
  useEffect(() => {
    if (latest !== undefined && !reading.current.sheet && !reading.current.writing) setShown(latest);
  }, [latest]);
  const displayed = shown ?? latest;
  if (displayed === undefined) {
    if (error !== null) return <ErrorState error={error} onRetry={retry} />;
    if (query.error !== null) return <ErrorState error={query.error} onRetry={() => void query.refetch()} />;
    if (availability !== null && availability.version === null)
      return <EmptyState title={availability.title}>{availability.detail}</EmptyState>;
    return <LoadingState what="Loading the diff" />;
  }
  const newer =
    latest !== undefined && latest !== displayed && isDifferent(latest, displayed) ? latest : null;
  return (
    <div className={styles.view}>
      {newer !== null && (
        <div className={styles.newer} role="status">
          <span>{describeNewer(newer, displayed)}</span>
          <Button onClick={() => setShown(newer)}>Show it</Button>
        </div>
      )}
      {query.error !== null && (
        <div className={styles.newer} role="status">
          <span>Reloading failed; this may be out of date.</span>
          <Button onClick={() => void query.refetch()}>Try again</Button>
        </div>
      )}
      {displayed.files.length === 0 ? (
        <EmptyState title="No changes">
          {displayed.tip === null
            ? "The attempt is running: its changes appear here."
            : displayed.since !== null && `Attempt ${displayed.attempt} made the same change.`}
        </EmptyState>
      ) : (
        <DiffPanel
          target={target}
          diff={displayed}
          newestAttempt={Math.max(newestAttempt, displayed.attempt ?? 0)}
          reading={reading}
        />
      )}
    </div>
  );
}

interface LoadedAvailability {
  availability: DiffAvailability | null;
  error: unknown;
  newestAttempt: number;
  retry(): void;
}

function useDiffAvailability(batchId: string, taskId: string | null): LoadedAvailability {
  const batch = useBatch(taskId === null ? batchId : null);
  const run = useTaskInBatch(taskId === null ? null : { batchId, taskId });
  if (taskId === null) {
    const { data, error } = batch;
    const availability = data === undefined ? null : batchDiffAvailability(data, data.tasks);
    return { availability, error, newestAttempt: 0, retry: () => void batch.refetch() };
  }
  const { data, error } = run;
  const availability = data === undefined ? null : taskDiffAvailability(data.batch, data.task);
  return { availability, error, newestAttempt: data?.task.attempt ?? 0, retry: () => void run.refetch() };
}

function isDifferent(a: Diff, b: Diff): boolean {
  return a.base !== b.base || a.tip !== b.tip || a.attempt !== b.attempt || a.diff !== b.diff;
}

function describeNewer(newer: Diff, displayed: Diff): string {
  if (newer.attempt !== displayed.attempt) return `Attempt ${newer.attempt} has a new diff.`;
  return "A newer version of this diff is available.";
}
