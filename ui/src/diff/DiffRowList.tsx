/* The virtualized rows of a diff. The header of the current file is sticky. */

import { defaultRangeExtractor, type Range, useVirtualizer } from "@tanstack/react-virtual";
import { type Ref, useCallback, useEffect, useImperativeHandle, useMemo, useRef, useState } from "react";
import { DiffRow, type RowContext } from "./DiffRow";
import styles from "./DiffRowList.module.css";
import type { Row, Side } from "./diffRows";
import type { FileChange } from "./parseDiff";

const ROW_HEIGHTS: Record<Row["kind"], number> = {
  file: 36,
  note: 36,
  hunk: 24,
  line: 20,
  pair: 20,
  comment: 90,
  writing: 170,
};

export interface RowListHandle {
  /** Brings a row into sight. */
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
  /** The row that was found. */
  current: number | null;
  onFile(file: FileChange): void;
  /** Somebody scrolls by hand. */
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
  const getKey = useCallback((index: number) => rows[index]?.key ?? index, [rows]); // another one measures all rows anew
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: at another width every line has another height
  useEffect(() => {
    if (width === 0) return;
    virtual.measure();
    virtual.getTotalSize(); // what is measured is compared with this: it has to be the guess again first
    for (const row of scroller.current?.querySelectorAll("[data-index]") ?? []) virtual.measureElement(row);
  }, [width]);
  useImperativeHandle(ref, () => ({
    scrollTo: (index, align) => virtual.scrollToIndex(index, { align }),
    topIndex: () => virtual.range?.startIndex ?? 0,
  }));
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
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keys
      tabIndex={0}
      data-selecting={selecting}
      onScroll={reportReading}
      onWheel={onUserScroll}
      onTouchMove={onUserScroll}
      onPointerEnter={() => onHover(true)}
      onPointerLeave={() => onHover(false)}
      onPointerDown={(event) => setSelecting(selectionSide(event.target))}
      onKeyDown={onKeyDown}
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

/** Where the files begin. */
function findFileStarts(rows: readonly Row[]): number[] {
  const found: number[] = [];
  for (let at = 0; at < rows.length; at++) if (rows[at]?.kind === "file") found.push(at);
  return found;
}

/** Of two sides, only the one where the pointer went down is selected. */
function selectionSide(target: EventTarget): string | undefined {
  if (!(target instanceof Element)) return undefined;
  return target.closest("[data-side]")?.getAttribute("data-side") ?? undefined;
}
