import type { KeyboardEvent } from "react";
import { COLUMN_NAMES, COLUMNS, type Column } from "../model/columns";
import { ColumnIcon } from "../parts/Status";
import styles from "./ColumnTabs.module.css";
import { useBoardLayout } from "./shown";
import { setColumn, useViewSettings } from "./view";

/** Where there is room for one column, which one. */
export function ColumnTabs() {
  const current = useViewSettings((store) => store.column);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const next = COLUMNS[COLUMNS.indexOf(current) + step];
    if (step === 0 || next === undefined) return;
    event.preventDefault();
    setColumn(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div className={styles.tabs} role="tablist" aria-label="Columns" tabIndex={-1} onKeyDown={onKeyDown}>
      {COLUMNS.map((column) => (
        <ColumnTab key={column} column={column} current={column === current} />
      ))}
    </div>
  );
}

function ColumnTab({ column, current }: { column: Column; current: boolean }) {
  const count = useBoardLayout((store) => store.unfrozen[column].length);
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
        <ColumnIcon column={column} />
      </span>
      <span>{count}</span>
    </button>
  );
}
