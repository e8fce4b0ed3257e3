/* The rows of a change, of which only those in sight are drawn. The head of the file that is read stays on top. */

import { defaultRangeExtractor, type Range as Seen, useVirtualizer } from "@tanstack/react-virtual";
import { type Ref, useCallback, useEffect, useImperativeHandle, useMemo, useRef, useState } from "react";
import type { FileChange } from "./change";
import { type Drawing, RowView } from "./RowView";
import type { Row, Side } from "./rows";
import styles from "./Sheet.module.css";

const SIZES: Record<Row["kind"], number> = {
  file: 36,
  note: 36,
  hunk: 24,
  line: 20,
  pair: 20,
  comment: 90,
  writing: 170,
};

export interface SheetHandle {
  /** Brings a row into sight. */
  go(index: number, align: "start" | "center" | "auto"): void;
  /** The row at the top. */
  top(): number;
}

interface Props {
  ref: Ref<SheetHandle>;
  rows: readonly Row[];
  width: number;
  drawing: Drawing;
  chosen: readonly [number, number] | null;
  side: Side | null;
  /** The row that was found. */
  current: number | null;
  onFile(file: FileChange): void;
  /** Somebody scrolls by hand. */
  onHand(): void;
  onReading(now: boolean): void;
  onKeyDown(event: React.KeyboardEvent): void;
}

export function Sheet({
  ref,
  rows,
  width,
  drawing,
  chosen,
  side,
  current,
  onFile,
  onHand,
  onReading,
  onKeyDown,
}: Props) {
  const scroller = useRef<HTMLDivElement>(null);
  const hovered = useRef(false);
  const [selecting, setSelecting] = useState<string | undefined>(undefined);
  const heads = useMemo(() => headsOf(rows), [rows]);
  const stuck = useRef(0);
  const extract = useCallback(
    (seen: Seen) => {
      stuck.current = heads.findLast((head) => head <= seen.startIndex) ?? 0;
      return [...new Set([stuck.current, ...defaultRangeExtractor(seen)])].sort((a, b) => a - b);
    },
    [heads],
  );
  const keyOf = useCallback((index: number) => rows[index]?.key ?? index, [rows]); // another one measures all rows anew
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => SIZES[rows[index]?.kind ?? "line"],
    getItemKey: keyOf,
    overscan: 12,
    rangeExtractor: extract,
    useFlushSync: false,
  });
  const items = virtual.getVirtualItems();
  const file = rows[stuck.current]?.file;
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
    go: (index, align) => virtual.scrollToIndex(index, { align }),
    top: () => virtual.range?.startIndex ?? 0,
  }));
  const tell = () => onReading(hovered.current || (scroller.current?.scrollTop ?? 0) > 0);
  const hover = (now: boolean) => {
    hovered.current = now;
    tell();
  };
  return (
    <section
      ref={scroller}
      className={styles.sheet}
      aria-label="The change, line by line"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls can be scrolled by keys
      tabIndex={0}
      data-selecting={selecting}
      onScroll={tell}
      onWheel={onHand}
      onTouchMove={onHand}
      onPointerEnter={() => hover(true)}
      onPointerLeave={() => hover(false)}
      onPointerDown={(event) => setSelecting(sideOf(event.target))}
      onKeyDown={onKeyDown}
    >
      <div className={styles.inside} style={{ height: virtual.getTotalSize() }}>
        {items.map(({ key, index, start }) => {
          const row = rows[index];
          if (row === undefined) return null;
          const top = index === stuck.current;
          const within = chosen !== null && chosen[0] <= index && index <= chosen[1];
          return (
            <div
              key={key}
              ref={virtual.measureElement}
              data-index={index}
              className={top ? styles.stuck : styles.row}
              style={top ? undefined : { transform: `translateY(${start}px)` }}
            >
              <RowView
                row={row}
                drawing={drawing}
                chosen={within ? side : null}
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
function headsOf(rows: readonly Row[]): number[] {
  const found: number[] = [];
  for (let at = 0; at < rows.length; at++) if (rows[at]?.kind === "file") found.push(at);
  return found;
}

/** Of two sides, only the one where the pointer went down is selected. */
function sideOf(target: EventTarget): string | undefined {
  if (!(target instanceof Element)) return undefined;
  return target.closest("[data-side]")?.getAttribute("data-side") ?? undefined;
}
