import type { BatchTask } from "../api/types";
import { plain } from "../diff/pieces";
import styles from "./Foreseen.module.css";

/** Conflicts that would be, if tasks at work were merged as they are now. Nothing is decided by it. */
export function Foreseen({ tasks }: { tasks: readonly BatchTask[] }) {
  const found = tasks.flatMap(({ taskId, foreseen }) =>
    foreseen.map(({ taskId: other, files }) => ({ taskId, other, files })),
  );
  if (found.length === 0) return null;
  return (
    <ul className={styles.foreseen} aria-label="Foreseen conflicts">
      {found.map(({ taskId, other, files }) => (
        <li key={`${taskId} ${other}`}>
          As they are now, {taskId} would conflict with {other ?? "the batch branch"} in{" "}
          {files.map(plain).join(", ")}.
        </li>
      ))}
    </ul>
  );
}
