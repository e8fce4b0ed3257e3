import type { ReactNode } from "react";
import { describeError } from "../api/client";
import { spellOutBidi } from "../model/format";
import { Button } from "./Button";
import styles from "./EmptyState.module.css";

interface EmptyStateProps {
  title: string;
  /** It is all that the page has: its title is the page's heading. */
  page?: boolean;
  children?: ReactNode;
}

/** An empty view: what would be here, and how to get it. */
export function EmptyState({ title, page = false, children }: EmptyStateProps) {
  const Title = page ? "h1" : "p";
  return (
    <div className={styles.empty}>
      <Title className={styles.title}>{spellOutBidi(title)}</Title>
      {children && <div className={styles.more}>{children}</div>}
    </div>
  );
}

/** A failed load: what failed, why, and a button to retry. */
export function ErrorState({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { message, hint } = describeError(error);
  return (
    <div className={styles.empty} role="alert">
      <p className={styles.title}>{spellOutBidi(message)}</p>
      {hint && <p className={styles.more}>{spellOutBidi(hint)}</p>}
      {onRetry && <Button onClick={onRetry}>Try again</Button>}
    </div>
  );
}

/** Shown only after a moment, so that quick loads don't flicker. */
export function LoadingState({ what }: { what: string }) {
  return (
    <div className={styles.loading} role="status">
      {what}
    </div>
  );
}
