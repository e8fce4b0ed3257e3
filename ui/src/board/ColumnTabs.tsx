import type { KeyboardEvent } from "react";
import { COLUMN_NAMES, COLUMNS, type Column } from "../model/columns";
import { ColumnMark } from "../parts/Status";
import styles from "./ColumnTabs.module.css";
import { useShown } from "./shown";
import { setColumn, useView } from "./view";

/** Where there is room for one column, which one. */
export function ColumnTabs() {
  const one = useView((store) => store.column);
  const pressed = (event: KeyboardEvent) => {
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const next = COLUMNS[COLUMNS.indexOf(one) + by];
    if (by === 0 || next === undefined) return;
    event.preventDefault();
    setColumn(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div className={styles.tabs} role="tablist" aria-label="Columns" tabIndex={-1} onKeyDown={pressed}>
      {COLUMNS.map((column) => (
        <Tab key={column} column={column} current={column === one} />
      ))}
    </div>
  );
}

function Tab({ column, current }: { column: Column; current: boolean }) {
  const count = useShown((store) => store.belongs[column].length);
  return (
    <button
      type="button"
      role="tab"
      id={`tab-${column}`}
      className={styles.tab}
      aria-selected={current}
      aria-controls="column"
      aria-label={`${COLUMN_NAMES[column]}, ${count}`}
      tabIndex={current ? 0 : -1}
      data-empty={count === 0 || undefined}
      onClick={() => setColumn(column)}
    >
      <span aria-hidden="true">
        <ColumnMark column={column} />
      </span>
      <span>{count}</span>
    </button>
  );
}
