import { useVirtualizer } from "@tanstack/react-virtual";
import {
  type FocusEvent,
  memo,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { useReadOnlyReason } from "../app/access";
import { Button } from "../components/Button";
import { useWidth } from "../components/hooks";
import { Icon } from "../components/Icon";
import { MixedCheckbox } from "../components/MixedCheckbox";
import { ColumnIcon } from "../components/Status";
import { columnRows, type Row } from "../model/arrangement";
import { findRetryable } from "../model/cardActions";
import { COLUMN_NAMES, type Column } from "../model/columns";
import { useBoard } from "../store/board";
import { toggleAll, useSelection } from "../store/selection";
import styles from "./BoardColumn.module.css";
import { keyActivity, pointerActivity, selectableIds, useBoardLayout } from "./boardLayout";
import { Card } from "./Card";
import { retryTasks } from "./cardCommands";
import { cardHeight, HEADING_HEIGHT, truncate } from "./cardText";
import { useViewSettings } from "./viewSettings";

interface Props {
  column: Column;
  /** Only this column is shown. */
  alone?: boolean;
}

export const BoardColumn = memo(function BoardColumn({ column, alone = false }: Props) {
  const narrow = useBoardLayout((store) => !alone && store.narrow.has(column));
  const ids = useBoardLayout((store) => store.columns[column]);
  const name = COLUMN_NAMES[column];
  return (
    <section
      className={styles.column}
      data-narrow={narrow || undefined}
      data-alone={alone || undefined}
      aria-label={name}
      onPointerMove={() => pointerActivity.move(column)}
      onPointerLeave={pointerActivity.leave}
    >
      <header className={styles.header}>
        <span aria-hidden="true">
          <ColumnIcon column={column} />
        </span>
        <h2>{name}</h2>
        <span className={styles.count}>{ids.length}</span>
        {!narrow && column === "failed" && <RetryAllButton ids={ids} />}
        {!narrow && <ColumnCheckbox ids={ids} name={name} />}
      </header>
      {!narrow && <Cards column={column} ids={ids} />}
      {alone && ids.length === 0 && <p className={styles.empty}>No tasks here.</p>}
    </section>
  );
});

/** Of what is shown: a filter narrows it. */
function RetryAllButton({ ids }: { ids: readonly string[] }) {
  const readOnlyReason = useReadOnlyReason();
  const [busy, setBusy] = useState(false);
  const count = useBoard(({ board }) => findRetryable(ids, board.tasks).length);
  if (count === 0) return null;
  const onPress = async () => {
    setBusy(true);
    await retryTasks(findRetryable(ids, useBoard.getState().board.tasks)).finally(() => setBusy(false));
  };
  return (
    <Button
      kind="quiet"
      className={styles.retry ?? ""}
      label="Retry all failed"
      title="Retry failed tasks and the ones they blocked"
      disabled={readOnlyReason}
      busy={busy}
      onClick={() => void onPress()}
    >
      <Icon name="retry" size={14} />
      <span className={styles.retryText}>Retry all</span>
    </Button>
  );
}

function ColumnCheckbox({ ids, name }: { ids: readonly string[]; name: string }) {
  const all = useMemo(() => selectableIds(ids), [ids]);
  const selected = useSelection((store) => all.filter((id) => store.selected.has(id)).length);
  return (
    <MixedCheckbox
      className={styles.check}
      label={`Select all in ${name}`}
      selected={selected}
      total={all.length}
      onToggle={() => toggleAll(all)}
    />
  );
}

function Cards({ column, ids }: { column: Column; ids: readonly string[] }) {
  const grouping = useViewSettings((store) => store.grouping);
  const rows = useMemo(() => columnRows(ids, useBoard.getState().board.tasks, grouping), [ids, grouping]);
  const scroller = useRef<HTMLDivElement>(null);
  const list = useVirtualRows(column, rows, scroller);
  const cards = useRef<HTMLUListElement>(null);
  const width = useWidth(cards);
  const onBlur = (event: FocusEvent) => {
    if (!event.currentTarget.contains(event.relatedTarget)) keyActivity.leave();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only notes keyboard activity in its cards
    <div
      ref={scroller}
      className={styles.scroller}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keyboard; only one card is in the tab order
      tabIndex={0}
      onKeyDown={() => keyActivity.move(column)}
      onBlur={onBlur}
    >
      <ul ref={cards} className={styles.list} style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map(({ key, index, start, size }) => (
          <li
            key={key}
            className={styles.row}
            style={{ transform: `translateY(${start}px)`, height: size }}
            aria-setsize={rows.length}
            aria-posinset={index + 1}
          >
            <ColumnRow row={rows[index]} column={column} width={width} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function ColumnRow({ row, column, width }: { row: Row | undefined; column: Column; width: number }) {
  if (row === undefined) return null;
  if ("id" in row) return <Card id={row.id} column={column} width={width} />;
  const heading = truncate(row.heading);
  return (
    <h3 className={styles.heading} title={heading} dir="auto">
      {heading || "No phase"}
    </h3>
  );
}

/** The rows near the viewport, and the focused one, so that scrolling never loses the focus. */
function useVirtualRows(column: Column, rows: readonly Row[], scroller: RefObject<HTMLDivElement | null>) {
  const cursor = useBoardLayout((store) => store.cursor);
  const cursorIndex = useMemo(
    () => rows.findIndex((row) => "id" in row && row.id === cursor),
    [rows, cursor],
  );
  const height = cardHeight(column);
  const list = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: (index) => (rows[index] !== undefined && "id" in rows[index] ? height : HEADING_HEIGHT),
    getItemKey: useCallback((index: number) => rowKey(rows[index], index), [rows]),
    rangeExtractor: useCallback(
      ({ startIndex, endIndex, overscan, count }: VisibleRange) =>
        rangeIndexes(
          Math.max(0, startIndex - overscan),
          Math.min(count - 1, endIndex + overscan),
          cursorIndex,
        ),
      [cursorIndex],
    ),
    gap: 4,
    overscan: 4,
    useFlushSync: false,
  });
  const focusRequest = useBoardLayout((store) => store.focusRequest);
  useLayoutEffect(() => {
    if (focusRequest === null) return;
    const index = rows.findIndex((row) => "id" in row && row.id === focusRequest.id);
    if (index < 0) return;
    if (focusRequest.scroll) list.scrollToIndex(index, { align: "auto" });
  }, [focusRequest, rows, list]);
  useEffect(() => {
    if (focusRequest === null || scroller.current === null) return;
    const card = scroller.current.querySelector<HTMLElement>(
      `[data-card="${CSS.escape(focusRequest.id)}"] button`,
    );
    if (card === null) return;
    card.focus({ preventScroll: true });
    useBoardLayout.setState({ focusRequest: null });
  }, [focusRequest, scroller]);
  return list;
}

interface VisibleRange {
  startIndex: number;
  endIndex: number;
  overscan: number;
  count: number;
}

function rangeIndexes(first: number, last: number, also: number): number[] {
  const found = Array.from({ length: Math.max(0, last - first + 1) }, (_, n) => first + n);
  if (also >= 0 && also < first) found.unshift(also);
  if (also > last) found.push(also);
  return found;
}

function rowKey(row: Row | undefined, index: number): string {
  if (row === undefined) return String(index);
  return "id" in row ? `card ${row.id}` : `heading ${index}`;
}
