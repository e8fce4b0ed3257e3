import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api, unwrap } from "../api/client";
import type { BatchSummary } from "../api/types";
import { routes } from "../app/routes";
import { Button } from "../components/Button";
import { EmptyState, ErrorState, LoadingState } from "../components/EmptyState";
import { useNow } from "../components/hooks";
import { Kbd } from "../components/Kbd";
import { formatCost, formatTime, shortId, spellOutBidi } from "../model/format";
import { useBoard } from "../store/board";
import styles from "./BatchesView.module.css";
import { Elapsed, PullRequestLink } from "./BatchStrips";
import { formatCounts } from "./batchStatus";
import { OutcomeBadge } from "./OutcomeBadge";
import { ProgressBar } from "./ProgressBar";

const PAGE_SIZE = 50; // as many as the board has, besides open ones

/** All batches, the newest first. */
export default function BatchesView() {
  const loaded = useBoard((store) => store.loaded);
  const failure = useBoard((store) => store.failure);
  const [limit, setLimit] = useState(PAGE_SIZE);
  const { batches, error, more, busy, retry } = useBatchList(limit);
  return (
    <div className={styles.view}>
      <header className={styles.header}>
        <h1>Batches</h1>
      </header>
      {failure && !loaded ? (
        <ErrorState error={failure} />
      ) : (
        !loaded && <LoadingState what="Loading batches" />
      )}
      {loaded && batches.length === 0 && <NoBatches />}
      {batches.length > 0 && <BatchTable batches={batches} />}
      {error !== null && <ErrorState error={error} onRetry={retry} />}
      {more && (
        <p className={styles.more}>
          <Button busy={busy} onClick={() => setLimit(limit + PAGE_SIZE)}>
            Load older batches
          </Button>
        </p>
      )}
    </div>
  );
}

/** The newest and open batches come from the board, which is live; others are fetched. */
function useBatchList(limit: number) {
  const board = useBoard((store) => store.board.batches);
  const { data, error, isFetching, refetch } = useQuery({
    queryKey: ["batch", "all", limit],
    queryFn: async ({ signal }) => {
      const query = { tasks: false, limit };
      return (await unwrap(api.GET("/api/batches", { signal, params: { query } }))).batches;
    },
    enabled: limit > PAGE_SIZE,
    placeholderData: keepPreviousData,
  });
  const older: BatchSummary[] = limit > PAGE_SIZE ? (data ?? []).filter(({ id }) => !board.has(id)) : [];
  const batches = [...board.values(), ...older].sort(
    (a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt),
  );
  return {
    batches,
    error,
    more: batches.length >= limit || isFetching,
    busy: isFetching,
    retry: () => void refetch(),
  };
}

function NoBatches() {
  return (
    <EmptyState title="No batches yet">
      <p>
        Select tasks on the <Link href={routes.board()}>board</Link> and press <Kbd keys="r" /> to run them in
        parallel, or <Kbd keys="q" /> for a queue.
      </p>
    </EmptyState>
  );
}

function BatchTable({ batches }: { batches: readonly BatchSummary[] }) {
  return (
    <div className={styles.scroll}>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">Batch</th>
            <th scope="col">Status</th>
            <th scope="col">Progress</th>
            <th scope="col">Started</th>
            <th scope="col">Duration</th>
            <th scope="col">Cost</th>
            <th scope="col">Pull request</th>
          </tr>
        </thead>
        <tbody>
          {batches.map((batch) => (
            <BatchRow key={batch.id} batch={batch} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function BatchRow({ batch }: { batch: BatchSummary }) {
  const { id, mode, progress, createdAt, startedAt, prUrl, shipped } = batch;
  const now = useNow(false);
  return (
    <tr>
      <th scope="row">
        <Link href={routes.review(id)} title={spellOutBidi(batch.name)}>
          <bdi>{spellOutBidi(batch.name)}</bdi>
        </Link>
        <span className={styles.muted}>
          {shortId(id)} · {mode}
        </span>
      </th>
      <td>
        <OutcomeBadge batch={batch} />
      </td>
      <td className={styles.progress}>
        <ProgressBar progress={progress} label={`Batch ${shortId(id)}`} />
        <span className={styles.counts}>{formatCounts(progress)}</span>
      </td>
      <td>{formatTime(startedAt ?? createdAt, now)}</td>
      <td>
        <Elapsed batch={batch} />
      </td>
      <td>{formatCost(batch.cost)}</td>
      <td>{prUrl ? <PullRequestLink url={prUrl} /> : shipped && "pushed"}</td>
    </tr>
  );
}
