import { useReadOnlyReason } from "../app/me";
import { openEditor } from "../editing/editor";
import type { Grouping } from "../model/arrangement";
import { pluralize } from "../model/format";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { FilterChips } from "./Chips";
import { FilterMenu } from "./FilterMenu";
import { useHiddenSelectionCount } from "./selecting";
import styles from "./Toolbar.module.css";
import { setFilter, setGrouping, useViewSettings } from "./view";

const GROUPINGS: Record<Grouping, string> = {
  none: "No groups",
  phase: "By phase",
  source: "By source",
};

/** What is looked for, what is looked at, and a new task. */
export function Toolbar() {
  const grouping = useViewSettings((store) => store.grouping);
  const readOnlyReason = useReadOnlyReason();
  return (
    <div className={styles.toolbar} role="toolbar" aria-label="Search and filter">
      <SearchField />
      <FilterMenu />
      <select
        className={styles.group}
        aria-label="Group"
        value={grouping}
        onChange={(event) => setGrouping(event.target.value as Grouping)}
      >
        {Object.entries(GROUPINGS).map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
      </select>
      <FilterChips />
      <HiddenSelectionNote />
      <span className={styles.space} />
      <Button disabled={readOnlyReason} onClick={() => openEditor(null)}>
        <Icon name="plus" />
        New task
      </Button>
    </div>
  );
}

export const SEARCH_ID = "search";

function SearchField() {
  const filter = useViewSettings((store) => store.filter);
  return (
    <label className={styles.search}>
      <Icon name="search" />
      <span className="unseen">Search tasks</span>
      <input
        id={SEARCH_ID}
        type="search"
        placeholder="Search"
        autoComplete="off"
        spellCheck={false}
        value={filter.query}
        onChange={(event) => setFilter({ ...filter, query: event.target.value })}
        onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
      />
    </label>
  );
}

function HiddenSelectionNote() {
  const hidden = useHiddenSelectionCount();
  return (
    <span role="status" className={styles.hidden}>
      {hidden > 0 && `${pluralize(hidden, "selected task")} not shown`}
    </span>
  );
}
