import { memo } from "react";
import { taskLabel } from "../graph/named";
import { statusText, TaskStatusIcon } from "../parts/Status";
import { Bars, Gaps } from "./Bars";
import styles from "./Gantt.module.css";
import type { Bar, Chart, Row } from "./layout";

interface GanttRowProps {
  row: Row;
  index: number;
  of: number;
  top: number;
  frame: Pick<Chart, "from" | "to">;
  current: number | null;
  actions: GanttRowActions;
}

/** The same ones as long as the chart is there: rows are drawn anew only when they change. */
export interface GanttRowActions {
  onPress(task: string, bar: Bar | null): void;
  onHover(row: number, words: string | null, place: number): void;
  /** Whether the key led anywhere. */
  moveFocus(key: string): boolean;
}

/** One task: its name, and what it went through. */
export const GanttRow = memo(function Line({ row, index, of, top, frame, current, actions }: GanttRowProps) {
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
          <span className={styles.id}>{task}</span>
          <span className={styles.status}>{statusText(status)}</span>
        </button>
      </div>
      <ul className={styles.track} aria-label={`Attempts of ${task}`}>
        <Gaps frame={frame} gaps={gaps} />
        <Bars
          frame={frame}
          bars={bars}
          current={current}
          onPress={(bar) => actions.onPress(task, bar)}
          onHover={onHover}
        />
      </ul>
    </li>
  );
});
