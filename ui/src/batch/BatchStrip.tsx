import { memo } from "react";
import { Link } from "wouter";
import type { BatchHead } from "../api/types";
import { to } from "../app/address";
import { cost, duration, elapsed, short, timeLeft } from "../model/format";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { useNow } from "../parts/now";
import { BatchMark } from "../parts/Status";
import { useBoard } from "../store/board";
import { useAsked } from "./asking";
import { BatchControls } from "./BatchControls";
import styles from "./BatchStrips.module.css";
import { Counts, ProgressBar } from "./ProgressBar";
import { dismiss } from "./watched";
import { isOpen, needYou, outcome, pauseOf } from "./watching";

export const BatchStrip = memo(function BatchStrip({ batchId }: { batchId: string }) {
  const head = useBoard((store) => store.board.batches.get(batchId));
  if (head === undefined) return null;
  const { id, status, mode, progress } = head;
  const name = `Batch ${short(id)}`;
  return (
    <li className={styles.strip} aria-label={name} data-status={status}>
      <span className={styles.name}>
        <BatchMark status={status} />
        <Link href={to.review(id)}>{name}</Link>
        <span className={styles.soft}>{mode}</span>
      </span>
      <span className={styles.bar}>
        <ProgressBar progress={progress} label={name} />
        <span className={styles.percentage}>{Math.round(progress.percentage)}%</span>
      </span>
      <span className={styles.counts}>
        <Counts progress={progress} />
      </span>
      <span className={styles.facts}>{isOpen(head) ? <Going head={head} /> : <Ended head={head} />}</span>
      <span className={styles.controls}>
        {isOpen(head) ? (
          <BatchControls head={head} compact />
        ) : (
          <Button kind="quiet" icon label={`Dismiss batch ${short(id)}`} onClick={() => dismiss(id)}>
            <Icon name="close" />
          </Button>
        )}
      </span>
    </li>
  );
});

function Going({ head }: { head: BatchHead }) {
  const asked = useAsked(head);
  const paused = pauseOf(head);
  return (
    <>
      {asked.count > 0 && <span className={styles.asking}>{needYou(asked.count)}</span>}
      {paused !== null && (
        <span className={styles.reason} title={paused}>
          {paused}
        </span>
      )}
      {paused === null && asked.count === 0 && head.eta !== null && <Eta eta={head.eta} />}
      <Elapsed head={head} />
      <Spent head={head} />
    </>
  );
}

function Ended({ head }: { head: BatchHead }) {
  return (
    <>
      <span>{outcome(head)}</span>
      <Elapsed head={head} />
      <Spent head={head} />
      <Link href={to.review(head.id)}>Review</Link>
      {head.prUrl !== null && <PullRequest url={head.prUrl} />}
    </>
  );
}

/** Only an address of the web is one that may be followed: it was told by a forge. */
export function PullRequest({ url }: { url: string }) {
  if (!/^https?:\/\//i.test(url)) return null;
  return (
    <a href={url} target="_blank" rel="noreferrer">
      Pull request
    </a>
  );
}

export function Eta({ eta }: { eta: string }) {
  return (
    <span className={styles.soft} title="When it is expected to end">
      {timeLeft(eta, useNow())}
    </span>
  );
}

export function Elapsed({ head }: { head: BatchHead }) {
  const { startedAt, completedAt } = head;
  const now = useNow(startedAt !== null && completedAt === null);
  if (startedAt === null) return null;
  return (
    <span className={styles.soft} title="How long it has taken">
      {duration(elapsed(startedAt, completedAt, now))}
    </span>
  );
}

export function Spent({ head }: { head: BatchHead }) {
  const spent = cost(head.cost);
  return spent === "" ? null : (
    <span className={styles.soft} title="What it has cost">
      {spent}
    </span>
  );
}
