import { memo } from "react";
import { taskName } from "../graph/named";
import { TaskMark, word } from "../parts/Status";
import { Bars, Gaps } from "./Bars";
import styles from "./Gantt.module.css";
import type { Bar, Chart, Row } from "./layout";

interface Props {
  row: Row;
  index: number;
  of: number;
  top: number;
  frame: Pick<Chart, "from" | "to">;
  current: number | null;
  acts: LineActs;
}

/** The same ones as long as the chart is there: rows are drawn anew only when they change. */
export interface LineActs {
  press(task: string, bar: Bar | null): void;
  look(row: number, words: string | null, place: number): void;
  /** Whether the key led anywhere. */
  walk(key: string): boolean;
}

/** One task: its name, and what it went through. */
export const Line = memo(function Line({ row, index, of, top, frame, current, acts }: Props) {
  const { task, title, status, bars, gaps } = row;
  const words = taskName(task, status, title);
  const look = (said: string | null, place: number) => acts.look(index, said, place);
  return (
    <li
      className={styles.row}
      data-row={index}
      style={{ top }}
      aria-setsize={of}
      aria-posinset={index + 1}
      onKeyDown={(event) => {
        if (!event.ctrlKey && !event.metaKey && !event.altKey && acts.walk(event.key)) event.preventDefault();
      }}
    >
      <div className={styles.name}>
        <button
          type="button"
          data-place={0}
          tabIndex={current === 0 ? 0 : -1}
          title={words}
          onClick={() => acts.press(task, null)}
          onFocus={() => look(words, 0)}
          onBlur={() => look(null, 0)}
          onMouseEnter={() => look(words, -1)}
          onMouseLeave={() => look(null, -1)}
        >
          <span className={styles.mark} aria-hidden="true">
            <TaskMark status={status} />
          </span>
          <span className={styles.id}>{task}</span>
          <span className={styles.status}>{word(status)}</span>
        </button>
      </div>
      <ul className={styles.track} aria-label={`Attempts of ${task}`}>
        <Gaps frame={frame} gaps={gaps} />
        <Bars
          frame={frame}
          bars={bars}
          current={current}
          press={(bar) => acts.press(task, bar)}
          look={look}
        />
      </ul>
    </li>
  );
});
