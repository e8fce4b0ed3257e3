import type { BatchTask } from "../api/types";
import { useOpenTask } from "../app/address";
import { pluralize } from "../model/format";
import { TaskStatusBadge } from "../parts/Status";
import styles from "./LeftOut.module.css";

/** What ended and is not on the branch, each with its reason. */
export function Unmerged({ batchId, tasks }: { batchId: string; tasks: readonly BatchTask[] }) {
  const [, openTask] = useOpenTask();
  if (tasks.length === 0) return null;
  return (
    <details className={styles.left}>
      <summary>{pluralize(tasks.length, "task")} not in it</summary>
      <ul>
        {tasks.map((task) => (
          <li key={task.taskId} className={styles.task}>
            <TaskStatusBadge status={task.status} />
            <button
              type="button"
              className={styles.name}
              onClick={() => openTask({ task: task.taskId, batch: batchId })}
            >
              <bdi>{task.taskId}</bdi>
            </button>
            <span className={styles.reason} dir="auto">
              {task.reason}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
