/* What a task changed, or the whole batch. Whoever reads keeps what is being read: a newer version is offered, not put in its place. */

import { useEffect, useRef, useState } from "react";
import type { Diff } from "../api/types";
import { Button } from "../parts/Button";
import { Empty, Failure, Loading } from "../parts/Empty";
import { useBatch } from "../review/useBatch";
import { useInBatch } from "../task/useRun";
import { Changes } from "./Changes";
import styles from "./DiffView.module.css";
import { ofBatch, ofTask, type Standing } from "./standing";
import { useDiff } from "./useDiff";

interface Props {
  batchId: string;
  taskId: string | null;
  /** One of its attempts; else what was merged of it, or what the newest one makes. */
  attempt?: number | null;
}

export default function DiffView({ batchId, taskId, attempt = null }: Props) {
  const { standing, error, again, newestAttempt } = useStanding(batchId, taskId);
  const query = useDiff({ batchId, taskId, attempt }, standing?.mark ?? null);
  const [shown, setShown] = useState<Diff | null>(null);
  const reading = useRef({ sheet: false, writing: false });
  const newest = query.data;
  useEffect(() => {
    if (newest !== undefined && !reading.current.sheet && !reading.current.writing) setShown(newest);
  }, [newest]);
  const held = shown ?? newest;
  if (held === undefined) {
    if (error !== null) return <Failure error={error} again={again} />;
    if (query.error !== null) return <Failure error={query.error} again={() => void query.refetch()} />;
    if (standing !== null && standing.mark === null)
      return <Empty title={standing.title}>{standing.more}</Empty>;
    return <Loading what="Reading the change" />;
  }
  const newer = newest !== undefined && newest !== held && different(newest, held) ? newest : null;
  return (
    <div className={styles.view}>
      {newer !== null && (
        <div className={styles.newer} role="status">
          <span>{newerWords(newer, held)}</span>
          <Button onClick={() => setShown(newer)}>Show it</Button>
        </div>
      )}
      {query.error !== null && (
        <div className={styles.newer} role="status">
          <span>It could not be read again: this may be old.</span>
          <Button onClick={() => void query.refetch()}>Try again</Button>
        </div>
      )}
      {held.files.length === 0 ? (
        <Empty title="Nothing is changed">
          {held.tip === null ? "The attempt is at work: what it writes is shown here." : null}
        </Empty>
      ) : (
        <Changes
          asked={{ batchId, taskId, attempt }}
          diff={held}
          newestAttempt={Math.max(newestAttempt, held.attempt ?? 0)}
          reading={reading}
        />
      )}
    </div>
  );
}

interface Known {
  standing: Standing | null;
  error: unknown;
  newestAttempt: number;
  again(): void;
}

function useStanding(batchId: string, taskId: string | null): Known {
  const batch = useBatch(taskId === null ? batchId : null);
  const run = useInBatch(taskId === null ? null : { batchId, taskId });
  if (taskId === null) {
    const { data, error } = batch;
    const standing = data === undefined ? null : ofBatch(data, data.tasks);
    return { standing, error, newestAttempt: 0, again: () => void batch.refetch() };
  }
  const { data, error } = run;
  const standing = data === undefined ? null : ofTask(data.head, data.task);
  return { standing, error, newestAttempt: data?.task.attempt ?? 0, again: () => void run.refetch() };
}

function different(a: Diff, b: Diff): boolean {
  return a.base !== b.base || a.tip !== b.tip || a.attempt !== b.attempt || a.diff !== b.diff;
}

function newerWords(newer: Diff, held: Diff): string {
  if (newer.attempt !== held.attempt) return `Attempt ${newer.attempt} has made another change.`;
  return "There is a newer version of this change.";
}
