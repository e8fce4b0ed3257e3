import type { BatchSummary } from "../api/types";
import { BatchStatusBadge, BatchStatusIcon } from "../components/Status";
import { describeOutcome, isOpen } from "./batchStatus";
import styles from "./OutcomeBadge.module.css";

/** What became of a batch; while it is open, its status. */
export function OutcomeBadge({ batch }: { batch: BatchSummary }) {
  if (isOpen(batch)) return <BatchStatusBadge status={batch.status} />;
  const { text, tone } = describeOutcome(batch);
  return (
    <span className={styles.outcome} data-tone={tone} title={batch.reason}>
      <BatchStatusIcon status={batch.status} />
      {text}
    </span>
  );
}
