import type { BatchTask } from "../api/types";
import { escapeSpecial } from "../diff/pieces";
import styles from "./Foreseen.module.css";

/** Conflicts that would be, if tasks at work were merged as they are now. Nothing is decided by it. */
export function PredictedConflicts({ tasks }: { tasks: readonly BatchTask[] }) {
  const predictions = tasks.flatMap(({ taskId, foreseen }) =>
    foreseen.map(({ taskId: other, files }) => ({ taskId, other, files })),
  );
  if (predictions.length === 0) return null;
  return (
    <ul className={styles.foreseen} aria-label="Foreseen conflicts">
      {predictions.map(({ taskId, other, files }) => (
        <li key={`${taskId} ${other}`}>
          As they are now, {taskId} would conflict with {other ?? "the batch branch"} in{" "}
          {files.map(escapeSpecial).join(", ")}.
        </li>
      ))}
    </ul>
  );
}
