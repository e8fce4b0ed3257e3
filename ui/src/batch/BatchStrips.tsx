import { useEffect, useState } from "react";
import { useShallow } from "zustand/react/shallow";
import { useLive } from "../live/useLive";
import { count } from "../model/format";
import { Button } from "../parts/Button";
import { useBoard } from "../store/board";
import { BatchStrip } from "./BatchStrip";
import styles from "./BatchStrips.module.css";
import { useWatched, watch } from "./watched";
import { isOpen } from "./watching";

const MOST = 3;

/** The batches at work, and those that ended since they were last dismissed. */
export function BatchStrips() {
  const watched = useWatched((store) => store.ids);
  const [all, setAll] = useState(false);
  const live = useLive();
  const open = useBoard(
    useShallow(({ board }) => [...board.batches.values()].filter(isOpen).map(({ id }) => id)),
  );
  const ids = useBoard(
    useShallow(({ board }) =>
      [...board.batches.values()]
        .filter((head) => isOpen(head) || watched.includes(head.id))
        .map(({ id }) => id),
    ),
  );
  useEffect(() => watch(open), [open]);
  // One that ends before it is read is seen all the same.
  useEffect(
    () => live?.onEvent(({ type, batchId }) => type === "batch:created" && batchId && watch([batchId])),
    [live],
  );
  if (ids.length === 0) return null;
  const more = ids.length - MOST;
  return (
    <section className={styles.strips} aria-label="Batches at work">
      <ul className={styles.list}>
        {(all ? ids : ids.slice(0, MOST)).map((id) => (
          <BatchStrip key={id} batchId={id} />
        ))}
      </ul>
      {more > 0 && (
        <Button
          kind="quiet"
          className={styles.fold ?? ""}
          aria-expanded={all}
          onClick={() => setAll((now) => !now)}
        >
          {all ? "Show fewer" : `Show ${count(more, "more batch", "more batches")}`}
        </Button>
      )}
    </section>
  );
}
