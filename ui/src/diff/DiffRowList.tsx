/* The virtualized rows of a diff. The header of the current file is sticky. */

import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual";
import { type Ref, useCallback, useEffect, useImperativeHandle, useMemo, useRef, useState } from "react";
import { DiffRow, type RowContext } from "./DiffRow";
import styles from "./DiffRowList.module.css";
import { type Row, rowLines, type Side } from "./diffRows";
import type { FileChange } from "./parseDiff";

const ROW_HEIGHTS: Record<Row["kind"], number> = {
  file: 36,
  note: 36,
  hunk: 28,
  image: 260,
  line: 20,
  pair: 20,
  comment: 90,
  writing: 170,
};

export interface RowListHandle {
  /** Scrolls a row into view. */
  scrollTo(index: number, align: "start" | "center" | "auto"): void;
  /** The row at the top. */
  topIndex(): number;
}

interface Props {
  ref: Ref<RowListHandle>;
  rows: readonly Row[];
  width: number;
  context: RowContext;
  selectedRange: readonly [number, number] | null;
  side: Side | null;
  /** The row of the current match. */
  current: number | null;
  onFile(file: FileChange): void;
  /** The user scrolled. */
  onUserScroll(): void;
  onReading(now: boolean): void;
  onKeyDown(event: React.KeyboardEvent): void;
}

export function DiffRowList({
  ref,
  rows,
  width,
  context,
  selectedRange,
  side,
  current,
  onFile,
  onUserScroll,
  onReading,
  onKeyDown,
}: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const hovered = useRef(false);
  const [selecting, setSelecting] = useState<string | undefined>(undefined);
  const fileStarts = useMemo(() => findFileStarts(rows), [rows]);
  const sticky = useRef(0);
  const extract = useCallback(
    (visible: Range) => {
      sticky.current = fileStarts.findLast((head) => head <= visible.startIndex) ?? 0;
      return [...new Set([sticky.current, ...defaultRangeExtractor(visible)])].sort((a, b) => a - b);
    },
    [fileStarts],
  );
  const getKey = useCallback((index: number) => rows[index]?.key ?? index, [rows]); // another value measures all rows again
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => ROW_HEIGHTS[rows[index]?.kind ?? "line"],
    getItemKey: getKey,
    overscan: 12,
    rangeExtractor: extract,
    useFlushSync: false,
  });
  const items = virtual.getVirtualItems();
  const file = rows[sticky.current]?.file;
  useEffect(() => {
    if (file !== undefined) onFile(file);
  }, [file, onFile]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: heights depend on the width
  useEffect(() => {
    if (width === 0) return;
    virtual.measure();
    virtual.getTotalSize(); // measurements are compared with this, so it must be the estimate again first
    for (const row of scroller.current?.querySelectorAll("[data-index]") ?? []) virtual.measureElement(row);
  }, [width]);
  // A button or form with the focus may be in no row any more.
  const hadFocus = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: that is when it can happen
  useEffect(() => {
    if (hadFocus.current && document.activeElement === document.body)
      scroller.current?.focus({ preventScroll: true });
  }, [rows]);
  useImperativeHandle(ref, () => ({
    scrollTo: (index, align) => virtual.scrollToIndex(index, { align }),
    topIndex: () => virtual.range?.startIndex ?? 0,
  }));
  const startDrag = useRangeDrag(rows, context);
  const reportReading = () => onReading(hovered.current || (scroller.current?.scrollTop ?? 0) > 0);
  const onHover = (now: boolean) => {
    hovered.current = now;
    reportReading();
  };
  return (
    <section
      ref={scroller}
      className={styles.list}
      aria-label="Diff, line by line"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keyboard
      tabIndex={0}
      data-selecting={selecting}
      onScroll={reportReading}
      onWheel={onUserScroll}
      onTouchMove={onUserScroll}
      onPointerEnter={() => onHover(true)}
      onPointerLeave={() => onHover(false)}
      onPointerDown={(event) => {
        setSelecting(selectionSide(event.target));
        startDrag(event);
      }}
      onKeyDown={onKeyDown}
      onFocus={() => {
        hadFocus.current = true;
      }}
      onBlur={() => {
        hadFocus.current = false;
      }}
    >
      <div className={styles.content} style={{ height: virtual.getTotalSize() }}>
        {items.map(({ key, index, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          const top = index === sticky.current;
          const inRange = selectedRange !== null && selectedRange[0] <= index && index <= selectedRange[1];
          return (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className={top ? styles.stickyRow : styles.row}
              style={top ? undefined : { transform: `translateY(${start}px)` }}
            >
              <DiffRow
                row={row}
                context={context}
                selected={inRange ? side : null}
                current={index === current}
              />
            </div>
          );
        })}
      </div>
    </section>
  );
}

/** Selects the lines from one number to another while the mouse is dragged; touch scrolls. Returns what begins it. */
function useRangeDrag(rows: readonly Row[], { commentTarget }: RowContext) {
  const latest = useRef(rows);
  latest.current = rows;
  return (event: React.PointerEvent) => {
    const number = (event.target as Element).closest("[data-comment]");
    const from = rowAt(latest.current, number);
    if (commentTarget === null || number === null || from === undefined || event.pointerType === "touch")
      return;
    const side = number.getAttribute("data-comment") as Side;
    let to = from.key;
    const move = ({ clientX, clientY }: PointerEvent) => {
      const row = rowAt(latest.current, document.elementFromPoint(clientX, clientY));
      if (row === undefined || row.key === to) return;
      if (row.kind !== "line" && rowLines(row)[side] === null) return;
      to = row.key;
      commentTarget.drag(from.key, to, side);
    };
    const end = () => {
      stop.abort();
      if (to !== from.key) commentTarget.endDrag();
    };
    const stop = new AbortController();
    const { signal } = stop;
    window.addEventListener("pointermove", move, { signal });
    window.addEventListener("pointerup", end, { signal });
    window.addEventListener("pointercancel", () => stop.abort(), { signal });
  };
}

function rowAt(rows: readonly Row[], element: Element | null): Row | undefined {
  const index = element?.closest("[data-index]")?.getAttribute("data-index");
  return index === null || index === undefined ? undefined : rows[Number(index)];
}

/** The rows at which files begin. */
function findFileStarts(rows: readonly Row[]): number[] {
  const found: number[] = [];
  for (let at = 0; at < rows.length; at++) if (rows[at]?.kind === "file") found.push(at);
  return found;
}

/** Text selection is limited to the side where it started. */
function selectionSide(target: EventTarget): string | undefined {
  if (!(target instanceof Element)) return undefined;
  return target.closest("[data-side]")?.getAttribute("data-side") ?? undefined;
}
