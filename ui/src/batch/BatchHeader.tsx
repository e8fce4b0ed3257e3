import { Link, useLocation } from "wouter";
import { ApiError } from "../api/client";
import { useBatch } from "../api/queries";
import type { BatchSummary } from "../api/types";
import { projectUrl, routes } from "../app/routes";
import { EmptyState, ErrorState } from "../components/EmptyState";
import { useNow } from "../components/hooks";
import { Icon, type IconName } from "../components/Icon";
import { formatTime, shortId, spellOutBidi } from "../model/format";
import { useBoard } from "../store/board";
import { BatchControls } from "./BatchControls";
import styles from "./BatchHeader.module.css";
import { Cost, Elapsed, PullRequestLink, TimeLeft } from "./BatchStrips";
import { describePause, formatNeedsYou, useBatchPrompt } from "./batchStatus";
import { ClusterNodes } from "./ClusterNodes";
import { OutcomeBadge } from "./OutcomeBadge";
import { Counts, ProgressBar } from "./ProgressBar";

/** The header of a batch's views: its name, status, actions, and links to its other views. */
export function BatchHeader({ batchId }: { batchId: string }) {
  const { batch, error, retry } = useBatchSummary(batchId);
  return (
    <header className={styles.header}>
      <div className={styles.titleRow}>
        <h1 className={styles.name} title={batch && spellOutBidi(batch.name)}>
          {batch && <bdi>{spellOutBidi(batch.name)} </bdi>}
          <span className={styles.id}>Batch {shortId(batchId)}</span>
        </h1>
        {batch && <OutcomeBadge batch={batch} />}
        {batch && <span className={styles.muted}>{batch.mode}</span>}
        {batch && batch.settings.sandbox !== "off" && (
          <span className={styles.muted}>sandbox {batch.settings.sandbox}</span>
        )}
        {batch && <ClusterNodes batch={batch} />}
        <span className={styles.controls}>{batch && <BatchControls batch={batch} />}</span>
      </div>
      {error !== null && <HeaderError error={error} onRetry={retry} />}
      {batch && <ProgressRow batch={batch} />}
      {batch && <BatchFacts batch={batch} />}
      {!isMissing(error) && (
        <nav className={styles.tabs} aria-label="Views of this batch">
          <ViewTab href={routes.review(batchId)} icon="review" name="Review" />
          <ViewTab href={routes.graph(batchId)} icon="graph" name="Graph" />
          <ViewTab href={routes.timeline(batchId)} icon="timeline" name="Timeline" />
          <Link
            className={styles.board}
            href={projectUrl("/", { in: batchId })}
            aria-label="Show on the board"
            title="Show on the board"
          >
            <Icon name="board" />
            <span>Show on the board</span>
          </Link>
        </nav>
      )}
    </header>
  );
}

/** From the board if it is among the newest, else fetched. */
function useBatchSummary(batchId: string): {
  batch: BatchSummary | undefined;
  error: unknown;
  retry(): void;
} {
  const known = useBoard((store) => store.board.batches.get(batchId));
  const loaded = useBoard((store) => store.loaded);
  const { data, error, refetch } = useBatch(loaded && known === undefined ? batchId : null);
  return { batch: known ?? data, error: known ? null : error, retry: () => void refetch() };
}

function ProgressRow({ batch }: { batch: BatchSummary }) {
  const prompt = useBatchPrompt(batch);
  const paused = describePause(batch);
  const { percentage } = batch.progress;
  return (
    <div className={styles.progress}>
      <ProgressBar progress={batch.progress} label={`Batch ${shortId(batch.id)}`} />
      <span className={styles.percentage}>{Math.round(percentage)}%</span>
      <Counts progress={batch.progress} />
      {prompt.count > 0 && <span className={styles.attention}>{formatNeedsYou(prompt.count)}</span>}
      {paused !== null && <span className={styles.attention}>{paused}</span>}
    </div>
  );
}

function BatchFacts({ batch }: { batch: BatchSummary }) {
  const now = useNow(false);
  const { branch, base, createdAt, completedAt, prUrl, unshipped } = batch;
  return (
    <p className={styles.facts}>
      {branch && <code>{branch}</code>}
      {base && <span>from {shortId(base)}</span>}
      <span>started {formatTime(batch.startedAt ?? createdAt, now)}</span>
      {completedAt && <span>ended {formatTime(completedAt, now)}</span>}
      <Elapsed batch={batch} />
      <TimeLeft batch={batch} />
      <Cost batch={batch} />
      {prUrl ? <PullRequestLink url={prUrl} /> : batch.shipped && <span>pushed</span>}
      {unshipped && <span className={styles.attention}>{unshipped}</span>}
      {batch.unwritten.map(({ source, why, hint }) => (
        <span key={source} className={styles.attention} title={hint}>
          Statuses are not in {source}: {why}
        </span>
      ))}
    </p>
  );
}

function ViewTab({ href, icon, name }: { href: string; icon: IconName; name: string }) {
  const [path] = useLocation();
  const here = href.split("?")[0] === path;
  return (
    <Link href={href} className={styles.tab} aria-current={here ? "page" : undefined}>
      <Icon name={icon} />
      {name}
    </Link>
  );
}

function HeaderError({ error, onRetry }: { error: unknown; onRetry(): void }) {
  if (!isMissing(error)) return <ErrorState error={error} onRetry={onRetry} />;
  return (
    <EmptyState title="There is no such batch">
      <Link href={routes.batches()}>All batches</Link>
    </EmptyState>
  );
}

/** A batch view that could not be loaded. The header reports a batch that doesn't exist. */
export function LoadError({ error, onRetry }: { error: unknown; onRetry(): void }) {
  return isMissing(error) ? null : <ErrorState error={error} onRetry={onRetry} />;
}

function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}
