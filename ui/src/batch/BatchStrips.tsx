import { memo, useState } from "react";
import { Link } from "wouter";
import { useShallow } from "zustand/react/shallow";
import type { BatchSummary } from "../api/types";
import { routes } from "../app/routes";
import { Button } from "../components/Button";
import { useNow } from "../components/hooks";
import { BatchStatusIcon } from "../components/Status";
import {
  formatAgentTime,
  formatCost,
  formatDuration,
  formatTimeLeft,
  pluralize,
  shortId,
  spellOutBidi,
  workSeconds,
} from "../model/format";
import { useBoard } from "../store/board";
import { BatchControls } from "./BatchControls";
import styles from "./BatchStrips.module.css";
import { describePause, formatNeedsYou, isOpen, useBatchPrompt } from "./batchStatus";
import { Counts, ProgressBar } from "./ProgressBar";

const BatchStrip = memo(function BatchStrip({ batchId }: { batchId: string }) {
  const batch = useBoard((store) => store.board.batches.get(batchId));
  if (batch === undefined) return null;
  const { id, status, mode, progress } = batch;
  const name = `Batch ${shortId(id)}`;
  const title = spellOutBidi(batch.name);
  return (
    <li className={styles.strip} aria-label={name} data-status={status}>
      <span className={styles.name}>
        <BatchStatusIcon status={status} />
        <Link href={routes.review(id)} title={title}>
          <bdi>{title}</bdi> <span className={styles.id}>Batch {shortId(id)}</span>
        </Link>
        <span className={styles.muted}>{mode}</span>
      </span>
      <span className={styles.bar}>
        <ProgressBar progress={progress} label={name} />
        <span className={styles.percentage}>{Math.round(progress.percentage)}%</span>
      </span>
      <span className={styles.counts}>
        <Counts progress={progress} />
      </span>
      <span className={styles.facts}>
        <OpenBatchFacts batch={batch} />
      </span>
      <span className={styles.controls}>
        <BatchControls batch={batch} compact />
      </span>
    </li>
  );
});

function OpenBatchFacts({ batch }: { batch: BatchSummary }) {
  const prompt = useBatchPrompt(batch);
  const paused = describePause(batch);
  return (
    <>
      {prompt.count > 0 && <span className={styles.attention}>{formatNeedsYou(prompt.count)}</span>}
      {paused !== null && (
        <span className={styles.reason} title={paused}>
          {paused}
        </span>
      )}
      <TimeLeft batch={batch} />
      <Elapsed batch={batch} />
      <Cost batch={batch} />
    </>
  );
}

/** Only http(s) URLs are linked: the URL comes from a forge. */
export function PullRequestLink({ url }: { url: string }) {
  if (!/^https?:\/\//i.test(url)) return null;
  return (
    <a href={url} target="_blank" rel="noreferrer">
      Pull request
    </a>
  );
}

/** Nothing while the batch is paused or waits for a person: how long that takes, nothing knows. */
export function TimeLeft({ batch }: { batch: BatchSummary }) {
  const { eta, etaBasis } = batch;
  const prompt = useBatchPrompt(batch);
  const running = isOpen(batch) && describePause(batch) === null && prompt.count === 0;
  const now = useNow(running && eta !== null);
  if (!running || eta === null) return null;
  return (
    <span className={styles.muted} title={`Estimated time left, ${etaBasis ?? ""}`}>
      {formatTimeLeft(eta, now)}
    </span>
  );
}

export function Elapsed({ batch }: { batch: BatchSummary }) {
  const { startedAt, seconds, agentSeconds, workingSince } = batch;
  const now = useNow(workingSince !== null);
  if (startedAt === null) return null;
  return (
    <span className={styles.muted} title="Time of work">
      {formatDuration(workSeconds(seconds, workingSince, now))}
      {workingSince === null && formatAgentTime(seconds, agentSeconds)}
    </span>
  );
}

export function Cost({ batch }: { batch: BatchSummary }) {
  const text = formatCost(batch.cost);
  return text === "" ? null : (
    <span className={styles.muted} title="Cost so far">
      {text}
    </span>
  );
}

const COLLAPSED_COUNT = 3;

/** Batches that have not ended. */
export function BatchStrips() {
  const [expanded, setExpanded] = useState(false);
  const ids = useBoard(
    useShallow(({ board }) => [...board.batches.values()].filter(isOpen).map(({ id }) => id)),
  );
  if (ids.length === 0) return null;
  const more = ids.length - COLLAPSED_COUNT;
  return (
    <section className={styles.strips} aria-label="Active batches">
      <ul className={styles.list}>
        {(expanded ? ids : ids.slice(0, COLLAPSED_COUNT)).map((id) => (
          <BatchStrip key={id} batchId={id} />
        ))}
      </ul>
      {more > 0 && (
        <Button
          kind="quiet"
          className={styles.toggle ?? ""}
          aria-expanded={expanded}
          onClick={() => setExpanded((now) => !now)}
        >
          {expanded ? "Show fewer" : `Show ${pluralize(more, "more batch", "more batches")}`}
        </Button>
      )}
    </section>
  );
}
