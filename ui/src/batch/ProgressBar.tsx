import type { Progress } from "../api/types";
import { formatCounts, segments } from "./batchStatus";
import styles from "./ProgressBar.module.css";

/** The progress of a batch. The counts are also given as text. */
export function ProgressBar({ progress, label }: { progress: Progress; label: string }) {
  const { total, percentage } = progress;
  return (
    <div
      className={styles.bar}
      role="progressbar"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(percentage)}
      aria-valuetext={`${Math.round(percentage)}%: ${formatCounts(progress)}`}
      title={formatCounts(progress)}
    >
      {segments(progress).map(({ name, tone, count }) => (
        <span
          key={name}
          className={styles.segment}
          data-tone={tone}
          style={{ width: `${(100 * count) / Math.max(1, total)}%` }}
        />
      ))}
    </div>
  );
}

/** The counts beside the bar, each in its colour and with its word. */
export function Counts({ progress }: { progress: Progress }) {
  return (
    <span className={styles.counts}>
      {segments(progress).map(({ name, tone, count }) => (
        <span key={name} data-tone={tone} className={styles.count}>
          {count} {name}
        </span>
      ))}
    </span>
  );
}
