import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { routes, type Tab, useOpenTask } from "../app/address";
import { NEWEST_ATTEMPT, type SelectedAttempt, useSelectedAttempt } from "../task/chosen";
import styles from "./Gantt.module.css";
import { GanttHeader, headerHeight } from "./Head";
import { GanttRow, type GanttRowActions } from "./Line";
import type { Bar, Chart } from "./layout";
import { useDragScroll } from "./useDrag";
import type { Zoom } from "./useZoom";
import { nextPosition, type Position } from "./walk";

const ROW_HEIGHT = 32;
const HINT = "Arrow keys go from span to span, Enter opens the task there. Scrolling with Ctrl zooms.";

/** Only the rows in sight are drawn, and the one that has the keyboard. */
export function Gantt({ batchId, chart, zoom }: { batchId: string; chart: Chart; zoom: Zoom }) {
  const [hoverText, setHoverText] = useState<string | null>(null);
  const [at, setAt] = useState<Position & { takeFocus: boolean }>({ row: 0, place: 0, takeFocus: false });
  const { scroller, track, width, factor } = zoom;
  const head = headerHeight(chart);
  const rows = useVirtualizer({
    count: chart.rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_HEIGHT,
    overscan: 8,
    scrollMargin: head,
    scrollPaddingStart: head,
    rangeExtractor: (range) => [...new Set([...defaultRangeExtractor(range), at.row])].sort((a, b) => a - b),
  });
  const open = useOpenAtAttempt(batchId);
  const [, go] = useLocation();
  const moveFocus = (key: string): boolean => {
    const next = nextPosition(chart.rows, at, key);
    if (next === null) return false;
    rows.scrollToIndex(next.row);
    setAt({ ...next, takeFocus: true });
    return true;
  };
  const onHover = (row: number, text: string | null, place: number) => {
    setHoverText(text);
    if (text !== null && place >= 0) setAt({ row, place, takeFocus: false });
  };
  const actions = useStableActions({ onPress: open, onHover, moveFocus });
  useFocusRequest(scroller, at, () => setAt({ ...at, takeFocus: false }));
  useDragScroll(scroller);
  return (
    <>
      <div ref={scroller} className={styles.scroller}>
        <div className={styles.inside} style={{ "--zoom": factor } as CSSProperties}>
          <GanttHeader
            chart={chart}
            width={width}
            track={track}
            onPress={() => go(routes.review(batchId))}
            onHover={setHoverText}
          />
          <ol className={styles.rows} style={{ height: rows.getTotalSize() }} aria-label="Tasks">
            {rows.getVirtualItems().map(({ index, start }) => {
              const row = chart.rows[index];
              if (row === undefined) return null;
              return (
                <GanttRow
                  key={row.task}
                  row={row}
                  index={index}
                  of={chart.rows.length}
                  top={start - head}
                  frame={chart}
                  current={at.row === index ? at.place : null}
                  actions={actions}
                />
              );
            })}
          </ol>
          <NowLine chart={chart} />
        </div>
      </div>
      <p className={styles.said} data-hint={hoverText === null || undefined}>
        {hoverText ?? HINT}
      </p>
    </>
  );
}

function NowLine({ chart: { from, to, now } }: { chart: Chart }) {
  if (now === null) return null;
  return (
    <div className={styles.over} aria-hidden="true">
      <div className={styles.now} style={{ left: `${((now - from) / (to - from)) * 100}%` }} />
    </div>
  );
}

const TABS: Partial<Record<Bar["span"]["kind"], Tab>> = { write: "log", verify: "log", merge: "diff" };

/** Opens a task, and its log at an attempt. */
function useOpenAtAttempt(batch: string): (task: string, bar: Bar | null) => void {
  const [, setOpen] = useOpenTask();
  const [attempt, setAttempt] = useState<SelectedAttempt>(NEWEST_ATTEMPT);
  // After the log that was open before is gone, as that forgets which one was read.
  useEffect(() => useSelectedAttempt.setState(attempt), [attempt]);
  return (task, bar) => {
    const { kind, n } = bar?.span ?? { kind: "merge", n: null };
    if (kind === "write" || kind === "verify") setAttempt({ step: kind, attempt: n });
    setOpen({ task, batch, tab: (bar && TABS[kind]) ?? "about" });
  };
}

/** The focus goes to a place as soon as it is drawn. */
function useFocusRequest(
  scroller: Zoom["scroller"],
  at: Position & { takeFocus: boolean },
  onFocused: () => void,
): void {
  const { row, place, takeFocus } = at;
  useEffect(() => {
    if (!takeFocus) return;
    scroller.current?.querySelector<HTMLElement>(`[data-row="${row}"] [data-place="${place}"]`)?.focus();
    onFocused();
  });
}

function useStableActions(actions: GanttRowActions): GanttRowActions {
  const latest = useRef(actions);
  latest.current = actions;
  const [stable] = useState<GanttRowActions>(() => ({
    onPress: (task, bar) => latest.current.onPress(task, bar),
    onHover: (row, text, place) => latest.current.onHover(row, text, place),
    moveFocus: (key) => latest.current.moveFocus(key),
  }));
  return stable;
}
