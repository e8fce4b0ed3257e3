import type { Batch, BatchTask, Timeline } from "../api/types";
import { count } from "../model/format";
import styles from "./Merged.module.css";
import { verified } from "./order";
import { Section } from "./Section";
import { TaskRow } from "./TaskRow";

interface Props {
  batch: Batch;
  tasks: readonly BatchTask[];
  coming: readonly BatchTask[];
  timeline: Timeline | undefined;
  /** Those whose change is unfolded. */
  open: ReadonlySet<string>;
  onOpen(taskId: string, open: boolean): void;
}

/** What the batch branch holds, in the order in which it was merged. */
export function Merged({ batch, tasks, coming, timeline, open, onOpen }: Props) {
  const courses = new Map(timeline?.tasks.map((course) => [course.taskId, course]));
  const more = coming.length === 0 ? "" : `${count(coming.length, "task")} still to come`;
  return (
    <Section title="Merged" aside={more}>
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
              passed={verified(courses.get(task.taskId))}
              open={open.has(task.taskId)}
              onOpen={onOpen}
              drop={{ last: tasks.length === 1 }}
            />
          ))}
        </ol>
      )}
    </Section>
  );
}

/** Tasks that have begun and are not on the branch yet. */
export function AtWork({
  batchId,
  tasks,
  open,
  onOpen,
}: Omit<Props, "batch" | "coming" | "timeline"> & { batchId: string }) {
  const begun = tasks.filter(({ attempt }) => attempt > 0);
  if (begun.length === 0) return null;
  return (
    <Section title="Still to come">
      <ul aria-label="Tasks at work">
        {begun.map((task) => (
          <TaskRow
            key={task.taskId}
            batchId={batchId}
            task={task}
            passed={null}
            open={open.has(task.taskId)}
            onOpen={onOpen}
            drop={null}
          />
        ))}
      </ul>
    </Section>
  );
}
