import type { ReactNode } from "react";
import { describeError } from "../api/client";
import { Button } from "./Button";
import styles from "./EmptyState.module.css";

/** Where there is nothing: what would be here, and how it gets here. */
export function EmptyState({ title, children }: { title: string; children?: ReactNode }) {
  return (
    <div className={styles.empty}>
      <p className={styles.title}>{title}</p>
      {children && <div className={styles.more}>{children}</div>}
    </div>
  );
}

/** Something could not be read: what, why, and once more. */
export function ErrorState({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { message, hint } = describeError(error);
  return (
    <div className={styles.empty} role="alert">
      <p className={styles.title}>{message}</p>
      {hint && <p className={styles.more}>{hint}</p>}
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}

/** Said only after a moment, so that what is quick does not flicker. */
export function LoadingState({ what }: { what: string }) {
  return (
    <div className={styles.loading} role="status">
      {what}
    </div>
  );
}
