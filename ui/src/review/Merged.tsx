import type { Batch, BatchTask, Timeline } from "../api/types";
import { pluralize } from "../model/format";
import styles from "./Merged.module.css";
import { isVerified } from "./order";
import { Section } from "./Section";
import { TaskRow } from "./TaskRow";

interface MergedProps {
  batch: Batch;
  tasks: readonly BatchTask[];
  pending: readonly BatchTask[];
  timeline: Timeline | undefined;
  /** Those whose change is unfolded. */
  open: ReadonlySet<string>;
  onOpen(taskId: string, open: boolean): void;
}

/** What the batch branch holds, in the order in which it was merged. */
export function MergedTasks({ batch, tasks, pending, timeline, open, onOpen }: MergedProps) {
  const timelines = new Map(timeline?.tasks.map((taskTimeline) => [taskTimeline.taskId, taskTimeline]));
  const pendingText = pending.length === 0 ? "" : `${pluralize(pending.length, "task")} still to come`;
  return (
    <Section title="Merged" aside={pendingText}>
      {tasks.length === 0 ? (
        <p className={styles.none}>
          {batch.branch === null ? "This batch works in place: it has no branch." : "Nothing is merged yet."}
        </p>
      ) : (
        <ol className={styles.list} aria-label="Merged tasks, in order">
          {tasks.map((task) => (
            <TaskRow
              key={task.taskId}
              batchId={batch.id}
              task={task}
              verified={isVerified(timelines.get(task.taskId))}
              open={open.has(task.taskId)}
              onToggle={onOpen}
              drop={{ last: tasks.length === 1 }}
            />
          ))}
        </ol>
      )}
    </Section>
  );
}

/** Tasks that have begun and are not on the branch yet. */
export function PendingTasks({
  batchId,
  tasks,
  open,
  onOpen,
}: Omit<MergedProps, "batch" | "pending" | "timeline"> & { batchId: string }) {
  const started = tasks.filter(({ attempt }) => attempt > 0);
  if (started.length === 0) return null;
  return (
    <Section title="Still to come">
      <ul aria-label="Tasks at work">
        {started.map((task) => (
          <TaskRow
            key={task.taskId}
            batchId={batchId}
            task={task}
            verified={null}
            open={open.has(task.taskId)}
            onToggle={onOpen}
            drop={null}
          />
        ))}
      </ul>
    </Section>
  );
}
