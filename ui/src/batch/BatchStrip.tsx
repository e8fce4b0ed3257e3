import { memo } from "react";
import { Link } from "wouter";
import type { BatchSummary } from "../api/types";
import { routes } from "../app/address";
import { formatCost, formatDuration, formatTimeLeft, secondsBetween, shortId } from "../model/format";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { useNow } from "../parts/now";
import { BatchStatusIcon } from "../parts/Status";
import { useBoard } from "../store/board";
import { useBatchPrompt } from "./asking";
import { BatchControls } from "./BatchControls";
import styles from "./BatchStrips.module.css";
import { Counts, ProgressBar } from "./ProgressBar";
import { unpinBatch } from "./watched";
import { describeOutcome, describePause, formatNeedsYou, isOpen } from "./watching";

export const BatchStrip = memo(function BatchStrip({ batchId }: { batchId: string }) {
  const batch = useBoard((store) => store.board.batches.get(batchId));
  if (batch === undefined) return null;
  const { id, status, mode, progress } = batch;
  const name = `Batch ${shortId(id)}`;
  return (
    <li className={styles.strip} aria-label={name} data-status={status}>
      <span className={styles.name}>
        <BatchStatusIcon status={status} />
        <Link href={routes.review(id)}>{name}</Link>
        <span className={styles.soft}>{mode}</span>
      </span>
      <span className={styles.bar}>
        <ProgressBar progress={progress} label={name} />
        <span className={styles.percentage}>{Math.round(progress.percentage)}%</span>
      </span>
      <span className={styles.counts}>
        <Counts progress={progress} />
      </span>
      <span className={styles.facts}>
        {isOpen(batch) ? <OpenBatchFacts batch={batch} /> : <EndedBatchFacts batch={batch} />}
      </span>
      <span className={styles.controls}>
        {isOpen(batch) ? (
          <BatchControls batch={batch} compact />
        ) : (
          <Button kind="quiet" icon label={`Dismiss batch ${shortId(id)}`} onClick={() => unpinBatch(id)}>
            <Icon name="close" />
          </Button>
        )}
      </span>
    </li>
  );
});

function OpenBatchFacts({ batch }: { batch: BatchSummary }) {
  const prompt = useBatchPrompt(batch);
  const paused = describePause(batch);
  return (
    <>
      {prompt.count > 0 && <span className={styles.asking}>{formatNeedsYou(prompt.count)}</span>}
      {paused !== null && (
        <span className={styles.reason} title={paused}>
          {paused}
        </span>
      )}
      {paused === null && prompt.count === 0 && batch.eta !== null && <TimeLeft eta={batch.eta} />}
      <Elapsed batch={batch} />
      <Cost batch={batch} />
    </>
  );
}

function EndedBatchFacts({ batch }: { batch: BatchSummary }) {
  return (
    <>
      <span>{describeOutcome(batch)}</span>
      <Elapsed batch={batch} />
      <Cost batch={batch} />
      <Link href={routes.review(batch.id)}>Review</Link>
      {batch.prUrl !== null && <PullRequestLink url={batch.prUrl} />}
    </>
  );
}

/** Only an address of the web is one that may be followed: it was told by a forge. */
export function PullRequestLink({ url }: { url: string }) {
  if (!/^https?:\/\//i.test(url)) return null;
  return (
    <a href={url} target="_blank" rel="noreferrer">
      Pull request
    </a>
  );
}

export function TimeLeft({ eta }: { eta: string }) {
  return (
    <span className={styles.soft} title="When it is expected to end">
      {formatTimeLeft(eta, useNow())}
    </span>
  );
}

export function Elapsed({ batch }: { batch: BatchSummary }) {
  const { startedAt, completedAt } = batch;
  const now = useNow(startedAt !== null && completedAt === null);
  if (startedAt === null) return null;
  return (
    <span className={styles.soft} title="How long it has taken">
      {formatDuration(secondsBetween(startedAt, completedAt, now))}
    </span>
  );
}

export function Cost({ batch }: { batch: BatchSummary }) {
  const text = formatCost(batch.cost);
  return text === "" ? null : (
    <span className={styles.soft} title="What it has cost">
      {text}
    </span>
  );
}
