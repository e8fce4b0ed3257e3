import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { type Tab, to, useOpenTask } from "../app/address";
import { type Chosen, NEWEST, useChosenAttempt } from "../task/chosen";
import styles from "./Gantt.module.css";
import { Head, headHeight } from "./Head";
import { Line, type LineActs } from "./Line";
import type { Bar, Chart } from "./layout";
import { useDrag } from "./useDrag";
import type { Zoom } from "./useZoom";
import { type Place, stepped } from "./walk";

const ROW = 32;
const HINT = "Arrow keys go from span to span, Enter opens the task there. Scrolling with Ctrl zooms.";

/** Only the rows in sight are drawn, and the one that has the keyboard. */
export function Gantt({ batchId, chart, zoom }: { batchId: string; chart: Chart; zoom: Zoom }) {
  const [words, setWords] = useState<string | null>(null);
  const [at, setAt] = useState<Place & { take: boolean }>({ row: 0, place: 0, take: false });
  const { scroller, track, width, factor } = zoom;
  const head = headHeight(chart);
  const rows = useVirtualizer({
    count: chart.rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 8,
    scrollMargin: head,
    scrollPaddingStart: head,
    rangeExtractor: (range) => [...new Set([...defaultRangeExtractor(range), at.row])].sort((a, b) => a - b),
  });
  const open = useOpenAt(batchId);
  const [, go] = useLocation();
  const walk = (key: string): boolean => {
    const next = stepped(chart.rows, at, key);
    if (next === null) return false;
    rows.scrollToIndex(next.row);
    setAt({ ...next, take: true });
    return true;
  };
  const look = (row: number, said: string | null, place: number) => {
    setWords(said);
    if (said !== null && place >= 0) setAt({ row, place, take: false });
  };
  const acts = useStable({ press: open, look, walk });
  useTaken(scroller, at, () => setAt({ ...at, take: false }));
  useDrag(scroller);
  return (
    <>
      <div ref={scroller} className={styles.scroller}>
        <div className={styles.inside} style={{ "--zoom": factor } as CSSProperties}>
          <Head
            chart={chart}
            width={width}
            track={track}
            press={() => go(to.review(batchId))}
            look={setWords}
          />
          <ol className={styles.rows} style={{ height: rows.getTotalSize() }} aria-label="Tasks">
            {rows.getVirtualItems().map(({ index, start }) => {
              const row = chart.rows[index];
              if (row === undefined) return null;
              return (
                <Line
                  key={row.task}
                  row={row}
                  index={index}
                  of={chart.rows.length}
                  top={start - head}
                  frame={chart}
                  current={at.row === index ? at.place : null}
                  acts={acts}
                />
              );
            })}
          </ol>
          <Now chart={chart} />
        </div>
      </div>
      <p className={styles.said} data-hint={words === null || undefined}>
        {words ?? HINT}
      </p>
    </>
  );
}

function Now({ chart: { from, to, now } }: { chart: Chart }) {
  if (now === null) return null;
  return (
    <div className={styles.over} aria-hidden="true">
      <div className={styles.now} style={{ left: `${((now - from) / (to - from)) * 100}%` }} />
    </div>
  );
}

const TABS: Partial<Record<Bar["span"]["kind"], Tab>> = { write: "log", verify: "log", merge: "diff" };

/** Opens a task, and its log at an attempt. */
function useOpenAt(batch: string): (task: string, bar: Bar | null) => void {
  const [, setOpen] = useOpenTask();
  const [attempt, setAttempt] = useState<Chosen>(NEWEST);
  // After the log that was open before is gone, as that forgets which one was read.
  useEffect(() => useChosenAttempt.setState(attempt), [attempt]);
  return (task, bar) => {
    const { kind, n } = bar?.span ?? { kind: "merge", n: null };
    if (kind === "write" || kind === "verify") setAttempt({ step: kind, attempt: n });
    setOpen({ task, batch, tab: (bar && TABS[kind]) ?? "about" });
  };
}

/** The focus goes to a place as soon as it is drawn. */
function useTaken(scroller: Zoom["scroller"], at: Place & { take: boolean }, taken: () => void): void {
  const { row, place, take } = at;
  useEffect(() => {
    if (!take) return;
    scroller.current?.querySelector<HTMLElement>(`[data-row="${row}"] [data-place="${place}"]`)?.focus();
    taken();
  });
}

function useStable(acts: LineActs): LineActs {
  const latest = useRef(acts);
  latest.current = acts;
  const [stable] = useState<LineActs>(() => ({
    press: (task, bar) => latest.current.press(task, bar),
    look: (row, words, place) => latest.current.look(row, words, place),
    walk: (key) => latest.current.walk(key),
  }));
  return stable;
}
