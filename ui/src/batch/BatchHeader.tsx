import { useQuery } from "@tanstack/react-query";
import { Link, useLocation } from "wouter";
import { api, told } from "../api/client";
import type { BatchHead } from "../api/types";
import { to, within } from "../app/address";
import { clock, short } from "../model/format";
import { Failure } from "../parts/Empty";
import { Icon, type IconName } from "../parts/Icon";
import { useNow } from "../parts/now";
import { BatchBadge } from "../parts/Status";
import { useBoard } from "../store/board";
import { useAsked } from "./asking";
import { BatchControls } from "./BatchControls";
import styles from "./BatchHeader.module.css";
import { Elapsed, Eta, PullRequest, Spent } from "./BatchStrip";
import { Counts, ProgressBar } from "./ProgressBar";
import { needYou, pauseOf } from "./watching";

/** On top of the views of one batch: what it is, where it stands, what can be asked of it, and its other views. */
export function BatchHeader({ batchId }: { batchId: string }) {
  const { head, error, again } = useHead(batchId);
  return (
    <header className={styles.header}>
      <div className={styles.line}>
        <h1 className={styles.name}>Batch {short(batchId)}</h1>
        {head && <BatchBadge status={head.status} />}
        {head && <span className={styles.soft}>{head.mode}</span>}
        <span className={styles.controls}>{head && <BatchControls head={head} />}</span>
      </div>
      {error !== null && <Failure error={error} again={again} />}
      {head && <Progressing head={head} />}
      {head && <Facts head={head} />}
      <nav className={styles.tabs} aria-label="Views of this batch">
        <Tab href={to.review(batchId)} icon="review" name="Review" />
        <Tab href={to.graph(batchId)} icon="graph" name="Graph" />
        <Tab href={to.timeline(batchId)} icon="timeline" name="Timeline" />
        <Link className={styles.board} href={within("/", { in: batchId })}>
          <Icon name="board" />
          Its tasks on the board
        </Link>
      </nav>
    </header>
  );
}

/** From the board where it is one of the newest, else asked for. */
function useHead(batchId: string): { head: BatchHead | undefined; error: unknown; again(): void } {
  const known = useBoard((store) => store.board.batches.get(batchId));
  const loaded = useBoard((store) => store.loaded);
  const { data, error, refetch } = useQuery({
    queryKey: ["batch", batchId],
    queryFn: ({ signal }) =>
      told(api.GET("/api/batches/{batch_id}", { signal, params: { path: { batch_id: batchId } } })),
    enabled: loaded && known === undefined,
  });
  return { head: known ?? data, error: known ? null : error, again: () => void refetch() };
}

function Progressing({ head }: { head: BatchHead }) {
  const asked = useAsked(head);
  const paused = pauseOf(head);
  const { percentage } = head.progress;
  return (
    <div className={styles.progress}>
      <ProgressBar progress={head.progress} label={`Batch ${short(head.id)}`} />
      <span className={styles.percentage}>{Math.round(percentage)}%</span>
      <Counts progress={head.progress} />
      {asked.count > 0 && <span className={styles.asking}>{needYou(asked.count)}</span>}
      {paused !== null && <span className={styles.asking}>{paused}</span>}
    </div>
  );
}

function Facts({ head }: { head: BatchHead }) {
  const now = useNow(false);
  const { branch, base, createdAt, completedAt, eta, prUrl, unshipped } = head;
  return (
    <p className={styles.facts}>
      {branch && <code>{branch}</code>}
      {base && <span>from {short(base)}</span>}
      <span>started {clock(head.startedAt ?? createdAt, now)}</span>
      {completedAt && <span>ended {clock(completedAt, now)}</span>}
      <Elapsed head={head} />
      {head.status === "running" && eta && <Eta eta={eta} />}
      <Spent head={head} />
      {prUrl && <PullRequest url={prUrl} />}
      {unshipped && <span className={styles.asking}>{unshipped}</span>}
    </p>
  );
}

function Tab({ href, icon, name }: { href: string; icon: IconName; name: string }) {
  const [path] = useLocation();
  const here = href.split("?")[0] === path;
  return (
    <Link href={href} className={styles.tab} aria-current={here ? "page" : undefined}>
      <Icon name={icon} />
      {name}
    </Link>
  );
}
