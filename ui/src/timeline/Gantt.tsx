import { defaultRangeExtractor, useVirtualizer } from "@tanstack/react-virtual";
import { type CSSProperties, memo, type RefObject, useEffect, useRef, useState } from "react";
import { useLocation } from "wouter";
import { routes, type Tab, useOpenTask } from "../app/routes";
import { statusText, TaskStatusIcon, taskLabel } from "../components/Status";
import { formatDuration, spellOutBidi } from "../model/format";
import { NEWEST_ATTEMPT, type SelectedAttempt, useSelectedAttempt } from "../task/attempts";
import { localZone, ticks } from "./axis";
import styles from "./Gantt.module.css";
import { type Bar, type Chart, type Gap, nextPosition, type Position, packLanes, type Row } from "./layout";
import { useDragScroll, type Zoom } from "./panZoom";
import { barTone, describeBar, describeGap, type KIND_NAMES } from "./timelineText";
import type { TimeScale } from "./timeScale";

const ROW_HEIGHT = { id: 32, title: 44 }; // with the id only, and with a title below it
const HINT = "Use the arrow keys to move, Enter to open a task, and Ctrl+scroll to zoom.";

/** Renders only the visible rows and the focused one. */
export function Gantt({ batchId, chart, zoom }: { batchId: string; chart: Chart; zoom: Zoom }) {
  const [hoverText, setHoverText] = useState<string | null>(null);
  const [at, setAt] = useState<Position & { takeFocus: boolean }>({ row: 0, place: 0, takeFocus: false });
  const { scroller, track, width, factor } = zoom;
  const head = headerHeight(chart);
  const titled = chart.rows.some(({ task, title }) => title !== task);
  const rows = useVirtualizer({
    count: chart.rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (titled ? ROW_HEIGHT.title : ROW_HEIGHT.id),
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
        <div
          className={styles.content}
          style={
            {
              "--zoom": factor,
              "--row": `${titled ? ROW_HEIGHT.title : ROW_HEIGHT.id}px`,
            } as CSSProperties
          }
        >
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
                  scale={chart.scale}
                  current={at.row === index ? at.place : null}
                  actions={actions}
                />
              );
            })}
          </ol>
          <Overlay chart={chart} />
        </div>
      </div>
      <p className={styles.hoverText} data-hint={hoverText === null || undefined}>
        {hoverText ?? HINT}
      </p>
    </>
  );
}

/** The line for now, and the times that are folded. */
function Overlay({ chart: { scale, now } }: { chart: Chart }) {
  return (
    <div className={styles.overlay} aria-hidden="true">
      {scale.breaks.map(({ from, to }) => (
        <div key={from} className={styles.break} style={spanStyle(scale, from, to)} />
      ))}
      {now !== null && <div className={styles.now} style={{ left: `${scale.place(now) * 100}%` }} />}
    </div>
  );
}

const TABS: Partial<Record<Bar["span"]["kind"], Tab>> = { write: "log", verify: "log", merge: "diff" };

/** Opens a task, or an attempt's log. */
function useOpenAtAttempt(batch: string): (task: string, bar: Bar | null) => void {
  const [, setOpen] = useOpenTask();
  const [attempt, setAttempt] = useState<SelectedAttempt>(NEWEST_ATTEMPT);
  // Deferred until the previous log has unmounted, which resets the selected attempt.
  useEffect(() => useSelectedAttempt.setState(attempt), [attempt]);
  return (task, bar) => {
    const { kind, n } = bar?.span ?? { kind: "merge", n: null };
    if (kind === "write" || kind === "verify") setAttempt({ step: kind, attempt: n });
    setOpen({ task, batch, tab: (bar && TABS[kind]) ?? "conversation" });
  };
}

/** Moves the focus to an element as soon as it is rendered. */
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

const AXIS_HEIGHT = 26;
const LANE_HEIGHT = 26;

function headerHeight({ batchBars }: Chart): number {
  return AXIS_HEIGHT + packLanes(batchBars).length * LANE_HEIGHT;
}

interface GanttHeaderProps {
  chart: Chart;
  /** Width of the time axis, in px. */
  width: number;
  track: RefObject<HTMLDivElement | null>;
  onPress(): void;
  onHover(words: string | null): void;
}

/** The sticky header: the time axis and the batch's own events. */
function GanttHeader({ chart, width, track, onPress, onHover }: GanttHeaderProps) {
  const own = packLanes(chart.batchBars);
  return (
    <div className={styles.chartHeader} style={{ height: headerHeight(chart) }}>
      <div ref={track} className={styles.track}>
        <Axis chart={chart} width={width} />
        {own.map((lane, at) => (
          <ul
            key={lane[0]?.key}
            className={styles.batchLane}
            style={{ top: AXIS_HEIGHT + at * LANE_HEIGHT }}
            aria-label="Batch events"
          >
            <Bars scale={chart.scale} bars={lane} current="all" onPress={onPress} onHover={onHover} />
          </ul>
        ))}
      </div>
      <span className={styles.corner}>{own.length > 0 && "Batch"}</span>
    </div>
  );
}

const LABEL_WIDTH = 64; // px that the label of a tick takes at most

/** A tick whose label would run into a break, or out of the axis, is left out. */
function Axis({ chart: { scale }, width }: Pick<GanttHeaderProps, "chart" | "width">) {
  const shown = scale.segments.flatMap(({ from, to }) => {
    const length = (scale.place(to) - scale.place(from)) * width;
    const last = to - ((to - from) * LABEL_WIDTH) / Math.max(length, 1);
    return ticks(from, to, length, localZone).filter((tick) => tick.at <= last);
  });
  return (
    <div className={styles.axis}>
      <div aria-hidden="true">
        {shown.map(({ at, label }) => (
          <span key={at} className={styles.tick} style={{ left: `${scale.place(at) * 100}%` }}>
            {label}
          </span>
        ))}
      </div>
      {scale.breaks.length > 0 && (
        <ul aria-label="Folded times">
          {scale.breaks.map(({ from, to }) => {
            const text = `${formatDuration((to - from) / 1000)} idle`;
            return (
              <li key={from} className={styles.breakLabel} style={spanStyle(scale, from, to)} title={text}>
                {text}
              </li>
            );
          })}
        </ul>
      )}
    </div>
  );
}

interface GanttRowProps {
  row: Row;
  index: number;
  of: number;
  top: number;
  scale: TimeScale;
  current: number | null;
  actions: GanttRowActions;
}

/** Stable callbacks, so that rows render only when they change. */
interface GanttRowActions {
  onPress(task: string, bar: Bar | null): void;
  onHover(row: number, words: string | null, place: number): void;
  /** Whether the key was handled. */
  moveFocus(key: string): boolean;
}

/** The row of a task: its name and bars. */
const GanttRow = memo(function GanttRow({ row, index, of, top, scale, current, actions }: GanttRowProps) {
  const { task, title, status, bars, gaps } = row;
  const label = taskLabel(task, status, title);
  const onHover = (text: string | null, place: number) => actions.onHover(index, text, place);
  return (
    <li
      className={styles.row}
      data-row={index}
      style={{ top }}
      aria-setsize={of}
      aria-posinset={index + 1}
      onKeyDown={(event) => {
        if (!event.ctrlKey && !event.metaKey && !event.altKey && actions.moveFocus(event.key))
          event.preventDefault();
      }}
    >
      <div className={styles.name}>
        <button
          type="button"
          data-place={0}
          tabIndex={current === 0 ? 0 : -1}
          title={label}
          onClick={() => actions.onPress(task, null)}
          onFocus={() => onHover(label, 0)}
          onBlur={() => onHover(null, 0)}
          onMouseEnter={() => onHover(label, -1)}
          onMouseLeave={() => onHover(null, -1)}
        >
          <span className={styles.mark} aria-hidden="true">
            <TaskStatusIcon status={status} />
          </span>
          <span className={styles.text}>
            <span className={styles.firstLine}>
              <span className={styles.id}>{task}</span>{" "}
              <span className={styles.status}>{statusText(status)}</span>
            </span>
            {title !== task && <span className={styles.title}>{spellOutBidi(title)}</span>}
          </span>
        </button>
      </div>
      <ul className={styles.track} aria-label={`Attempts of ${task}`}>
        <Gaps scale={scale} gaps={gaps} />
        <Bars
          scale={scale}
          bars={bars}
          current={current}
          onPress={(bar) => actions.onPress(task, bar)}
          onHover={onHover}
        />
      </ul>
    </li>
  );
});

export const KIND_LETTERS: Record<keyof typeof KIND_NAMES, string> = {
  write: "W",
  verify: "V",
  merge: "M",
  gate: "G",
  pause: "P",
  rebuild: "R",
  publish: "S",
};

/** In percent, so that a resize needs no new render. */
function spanStyle(scale: TimeScale, from: number, to: number): CSSProperties {
  return { left: `${scale.place(from) * 100}%`, width: `${(scale.place(to) - scale.place(from)) * 100}%` };
}

interface BarsProps {
  scale: TimeScale;
  bars: readonly Bar[];
  /** The bar that is in the tab order. */
  current: number | "all" | null;
  onPress(bar: Bar): void;
  onHover(words: string | null, place: number): void;
}

function Bars({ scale, bars, current, onPress, onHover }: BarsProps) {
  return bars.map((bar, at) => {
    const label = describeBar(bar, localZone);
    const { kind, n } = bar.span;
    const tone = barTone(bar);
    const numbered = n !== null && kind !== "merge" && kind !== "publish";
    return (
      <li key={bar.key} className={styles.barSlot} style={spanStyle(scale, bar.from, bar.to)}>
        <button
          type="button"
          className={styles.bar}
          data-kind={kind}
          data-tone={tone}
          data-letter={`${tone === "bad" ? "✕ " : ""}${KIND_LETTERS[kind]}${numbered ? n : ""}`}
          data-place={at + 1}
          tabIndex={current === "all" || current === at + 1 ? 0 : -1}
          aria-label={label}
          title={label}
          onClick={() => onPress(bar)}
          onFocus={() => onHover(label, at + 1)}
          onBlur={() => onHover(null, at + 1)}
          onMouseEnter={() => onHover(label, -1)}
          onMouseLeave={() => onHover(null, -1)}
        />
      </li>
    );
  });
}

function Gaps({ scale, gaps }: { scale: TimeScale; gaps: readonly Gap[] }) {
  return gaps.map((gap) => {
    const label = describeGap(gap, localZone);
    return (
      <li
        key={`${gap.from} ${gap.backoff === null}`}
        className={gap.backoff === null ? styles.wait : styles.backoff}
        style={spanStyle(scale, gap.from, gap.to)}
        title={label}
      >
        <span className="visually-hidden">{label}</span>
      </li>
    );
  });
}
