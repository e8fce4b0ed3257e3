import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api, told } from "../api/client";
import type { BatchHead } from "../api/types";
import { to } from "../app/address";
import { clock, cost, count, duration, elapsed, short } from "../model/format";
import { Button } from "../parts/Button";
import { Empty, Failure, Loading } from "../parts/Empty";
import { Kbd } from "../parts/Kbd";
import { useNow } from "../parts/now";
import { BatchBadge } from "../parts/Status";
import { useBoard } from "../store/board";
import styles from "./BatchesView.module.css";
import { PullRequest } from "./BatchStrip";
import { ProgressBar } from "./ProgressBar";
import { inCounts, isOpen } from "./watching";

const STEP = 50; // as many as the board knows by itself, beside those that are open

/** All batches, the newest first. */
export default function BatchesView() {
  const { loaded, failure } = useBoard();
  const [limit, setLimit] = useState(STEP);
  const { heads, error, more, busy, again } = useHeads(limit);
  return (
    <div className={styles.view}>
      <header className={styles.header}>
        <h1>Batches</h1>
      </header>
      {failure && !loaded ? <Failure error={failure} /> : !loaded && <Loading what="Reading the batches" />}
      {loaded && heads.length === 0 && <HowTo />}
      {heads.length > 0 && <Table heads={heads} />}
      {error !== null && <Failure error={error} again={again} />}
      {more && (
        <p className={styles.more}>
          <Button busy={busy} onClick={() => setLimit(limit + STEP)}>
            Load older batches
          </Button>
        </p>
      )}
    </div>
  );
}

/** The newest and the open ones are the board's, which are true at every moment; others are asked for. */
function useHeads(limit: number) {
  const board = useBoard((store) => store.board.batches);
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ["batch", "all", limit],
    queryFn: async ({ signal }) => {
      const query = { tasks: false, limit };
      return (await told(api.GET("/api/batches", { signal, params: { query } }))).batches;
    },
    enabled: limit > STEP,
    placeholderData: keepPreviousData,
  });
  const older: BatchHead[] = limit > STEP ? (data ?? []).filter(({ id }) => !board.has(id)) : [];
  const heads = [...board.values(), ...older].sort(
    (a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt),
  );
  return {
    heads,
    error,
    more: heads.length >= limit || isFetching,
    busy: isFetching,
    again: () => void refetch(),
  };
}

function HowTo() {
  return (
    <Empty title="No batch has been run yet">
      <p>
        Select tasks on the <Link href={to.board()}>board</Link> and press <Kbd keys="r" /> to run them in
        parallel, or <Kbd keys="q" /> for a queue. On the command line: plait run.
      </p>
    </Empty>
  );
}

function Table({ heads }: { heads: readonly BatchHead[] }) {
  return (
    <div className={styles.scroll}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Batch</th>
            <th scope="col">Status</th>
            <th scope="col">Progress</th>
            <th scope="col">Tasks</th>
            <th scope="col">Started</th>
            <th scope="col">Took</th>
            <th scope="col">Cost</th>
            <th scope="col">Branch</th>
            <th scope="col">Pull request</th>
          </tr>
        </thead>
        <tbody>
          {heads.map((head) => (
            <Row key={head.id} head={head} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ head }: { head: BatchHead }) {
  const { id, status, mode, progress, createdAt, startedAt, completedAt, branch, prUrl } = head;
  const now = useNow(isOpen(head) && startedAt !== null);
  return (
    <tr>
      <th scope="row">
        <Link href={to.review(id)}>{short(id)}</Link> <span className={styles.soft}>{mode}</span>
      </th>
      <td>
        <BatchBadge status={status} />
      </td>
      <td className={styles.progress}>
        <ProgressBar progress={progress} label={`Batch ${short(id)}`} />
        <span className={styles.counts}>{inCounts(progress)}</span>
      </td>
      <td data-label="Tasks">{count(progress.total, "task")}</td>
      <td>{clock(startedAt ?? createdAt, now)}</td>
      <td>{startedAt && duration(elapsed(startedAt, completedAt, now))}</td>
      <td>{cost(head.cost)}</td>
      <td>{branch && <code>{branch}</code>}</td>
      <td>{prUrl && <PullRequest url={prUrl} />}</td>
    </tr>
  );
}
