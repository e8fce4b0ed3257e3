import { useMayNot } from "../app/me";
import { openEditor } from "../editing/editor";
import type { Grouping } from "../model/arrangement";
import { count } from "../model/format";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { Chips } from "./Chips";
import { FilterMenu } from "./FilterMenu";
import { useHiddenSelected } from "./selecting";
import styles from "./Toolbar.module.css";
import { setFilter, setGrouping, useView } from "./view";

const GROUPINGS: Record<Grouping, string> = {
  none: "No groups",
  phase: "By phase",
  source: "By source",
};

/** What is looked for, what is looked at, and a new task. */
export function Toolbar() {
  const grouping = useView((store) => store.grouping);
  const mayNot = useMayNot();
  return (
    <div className={styles.toolbar} role="toolbar" aria-label="Search and filter">
      <Search />
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
      <Chips />
      <HiddenSelected />
      <span className={styles.space} />
      <Button disabled={mayNot} onClick={() => openEditor(null)}>
        <Icon name="plus" />
        New task
      </Button>
    </div>
  );
}

export const SEARCH = "search";

function Search() {
  const filter = useView((store) => store.filter);
  return (
    <label className={styles.search}>
      <Icon name="search" />
      <span className="unseen">Search tasks</span>
      <input
        id={SEARCH}
        type="search"
        placeholder="Search"
        autoComplete="off"
        spellCheck={false}
        value={filter.words}
        onChange={(event) => setFilter({ ...filter, words: event.target.value })}
        onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
      />
    </label>
  );
}

function HiddenSelected() {
  const hidden = useHiddenSelected();
  return (
    <span role="status" className={styles.hidden}>
      {hidden > 0 && `${count(hidden, "selected task")} not shown`}
    </span>
  );
}
