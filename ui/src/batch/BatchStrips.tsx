import { useEffect, useState } from "react";
import { useShallow } from "zustand/react/shallow";
import { useLive } from "../live/useLive";
import { pluralize } from "../model/format";
import { Button } from "../parts/Button";
import { useBoard } from "../store/board";
import { BatchStrip } from "./BatchStrip";
import styles from "./BatchStrips.module.css";
import { pinBatches, usePinnedBatches } from "./watched";
import { isOpen } from "./watching";

const COLLAPSED_COUNT = 3;

/** The batches at work, and those that ended since they were last dismissed. */
export function BatchStrips() {
  const pinned = usePinnedBatches((store) => store.ids);
  const [expanded, setExpanded] = useState(false);
  const live = useLive();
  const open = useBoard(
    useShallow(({ board }) => [...board.batches.values()].filter(isOpen).map(({ id }) => id)),
  );
  const ids = useBoard(
    useShallow(({ board }) =>
      [...board.batches.values()]
        .filter((batch) => isOpen(batch) || pinned.includes(batch.id))
        .map(({ id }) => id),
    ),
  );
  useEffect(() => pinBatches(open), [open]);
  // One that ends before it is read is seen all the same.
  useEffect(
    () =>
      live?.subscribe(({ type, batchId }) => type === "batch:created" && batchId && pinBatches([batchId])),
    [live],
  );
  if (ids.length === 0) return null;
  const more = ids.length - COLLAPSED_COUNT;
  return (
    <section className={styles.strips} aria-label="Batches at work">
      <ul className={styles.list}>
        {(expanded ? ids : ids.slice(0, COLLAPSED_COUNT)).map((id) => (
          <BatchStrip key={id} batchId={id} />
        ))}
      </ul>
      {more > 0 && (
        <Button
          kind="quiet"
          className={styles.fold ?? ""}
          aria-expanded={expanded}
          onClick={() => setExpanded((now) => !now)}
        >
          {expanded ? "Show fewer" : `Show ${pluralize(more, "more batch", "more batches")}`}
        </Button>
      )}
    </section>
  );
}
