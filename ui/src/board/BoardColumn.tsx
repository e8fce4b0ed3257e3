import { useVirtualizer } from "@tanstack/react-virtual";
import { type FocusEvent, memo, useCallback, useEffect, useLayoutEffect, useMemo, useRef } from "react";
import { type Row, rowsOf } from "../model/arrangement";
import { COLUMN_NAMES, type Column } from "../model/columns";
import { ColumnMark } from "../parts/Status";
import { useBoard } from "../store/board";
import { chooseAll, useSelection } from "../store/selection";
import styles from "./BoardColumn.module.css";
import { Card } from "./Card";
import { HEADING, heightIn } from "./card";
import { Mixed } from "./Mixed";
import { selectable } from "./selecting";
import { keys, pointer, useShown } from "./shown";
import { useView } from "./view";

interface Props {
  column: Column;
  /** No other is seen beside it. */
  alone?: boolean;
}

export const BoardColumn = memo(function BoardColumn({ column, alone = false }: Props) {
  const narrow = useShown((store) => !alone && store.narrow.has(column));
  const ids = useShown((store) => store.columns[column]);
  const count = useShown((store) => store.belongs[column].length);
  const name = COLUMN_NAMES[column];
  return (
    <section
      className={styles.column}
      data-narrow={narrow || undefined}
      data-alone={alone || undefined}
      aria-label={name}
      onPointerMove={() => pointer.moved(column)}
      onPointerLeave={pointer.left}
    >
      <header className={styles.header}>
        <span aria-hidden="true">
          <ColumnMark column={column} />
        </span>
        <h2>{name}</h2>
        <span className={styles.count}>{count}</span>
        {!narrow && <ColumnCheck ids={ids} name={name} />}
      </header>
      {!narrow && <Cards column={column} ids={ids} />}
      {alone && ids.length === 0 && <p className={styles.none}>No task is here now.</p>}
    </section>
  );
});

function ColumnCheck({ ids, name }: { ids: readonly string[]; name: string }) {
  const all = useMemo(() => selectable(ids), [ids]);
  const chosen = useSelection((store) => all.filter((id) => store.chosen.has(id)).length);
  return (
    <Mixed
      className={styles.check}
      label={`Select all in ${name}`}
      chosen={chosen}
      of={all.length}
      onToggle={() => chooseAll(all)}
    />
  );
}

function Cards({ column, ids }: { column: Column; ids: readonly string[] }) {
  const grouping = useView((store) => store.grouping);
  const rows = useMemo(() => rowsOf(ids, useBoard.getState().board.tasks, grouping), [ids, grouping]);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useRows(column, rows, scroller);
  const blurred = (event: FocusEvent) => {
    if (!event.currentTarget.contains(event.relatedTarget)) keys.left();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only hears that somebody is at its cards by the keys
    <div
      ref={scroller}
      className={styles.scroller}
      onFocus={(event) => event.target.matches(":focus-visible") && keys.moved(column)}
      onKeyDown={() => keys.moved(column)}
      onBlur={blurred}
    >
      <ul className={styles.list} style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map(({ key, index, start, size }) => (
          <li
            key={key}
            className={styles.row}
            style={{ transform: `translateY(${start}px)`, height: size }}
            aria-setsize={rows.length}
            aria-posinset={index + 1}
          >
            <RowView row={rows[index]} column={column} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function RowView({ row, column }: { row: Row | undefined; column: Column }) {
  if (row === undefined) return null;
  if ("id" in row) return <Card id={row.id} column={column} />;
  return (
    <h3 className={styles.heading} title={row.heading} dir="auto">
      {row.heading || "Without a phase"}
    </h3>
  );
}

/** The rows near what is seen; and the one with the cursor, wherever it is, so that the focus is never lost by scrolling. */
function useRows(column: Column, rows: readonly Row[], scroller: React.RefObject<HTMLDivElement | null>) {
  const cursor = useShown((store) => store.cursor);
  const at = useMemo(() => rows.findIndex((row) => "id" in row && row.id === cursor), [rows, cursor]);
  const height = heightIn(column);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (rows[index] !== undefined && "id" in rows[index] ? height : HEADING),
    getItemKey: useCallback((index: number) => keyOf(rows[index], index), [rows]),
    rangeExtractor: useCallback(
      ({ startIndex, endIndex, overscan, count }: Seen) =>
        indexes(Math.max(0, startIndex - overscan), Math.min(count - 1, endIndex + overscan), at),
      [at],
    ),
    gap: 6,
    overscan: 4,
    useFlushSync: false,
  });
  const wanted = useShown((store) => store.wanted);
  useLayoutEffect(() => {
    if (wanted === null) return;
    const index = rows.findIndex((row) => "id" in row && row.id === wanted.id);
    if (index < 0) return;
    if (wanted.scroll) list.scrollToIndex(index, { align: "auto" });
  }, [wanted, rows, list]);
  useEffect(() => {
    if (wanted === null || scroller.current === null) return;
    const card = scroller.current.querySelector<HTMLElement>(`[data-card="${CSS.escape(wanted.id)}"] button`);
    if (card === null) return;
    card.focus({ preventScroll: true });
    useShown.setState({ wanted: null });
  }, [wanted, scroller]);
  return list;
}

interface Seen {
  startIndex: number;
  endIndex: number;
  overscan: number;
  count: number;
}

function indexes(first: number, last: number, also: number): number[] {
  const found = Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => first + n);
  if (also >= 0 && also < first) found.unshift(also);
  if (also > last) found.push(also);
  return found;
}

function keyOf(row: Row | undefined, index: number): string {
  if (row === undefined) return String(index);
  return "id" in row ? `card ${row.id}` : `heading ${index}`;
}
