import { type KeyboardEvent, useEffect, useMemo, useRef } from "react";
import { create } from "zustand";
import { useReadOnlyReason } from "../app/access";
import { Button } from "../components/Button";
import { Icon } from "../components/Icon";
import { SearchField } from "../components/SearchField";
import { Select } from "../components/Select";
import { openEditor } from "../editing/editorState";
import type { Grouping } from "../model/arrangement";
import {
  FILTER_KIND_NAMES,
  FILTER_KINDS,
  type FilterKind,
  filterOptions,
  isFiltering,
  toggleFilter,
} from "../model/filter";
import { pluralize, shortId } from "../model/format";
import { useBoard } from "../store/board";
import { useHiddenSelectionCount } from "./boardLayout";
import { truncate } from "./cardText";
import styles from "./Toolbar.module.css";
import { clearFilter, setFilter, setGrouping, useViewSettings } from "./viewSettings";

const GROUPINGS: Record<Grouping, string> = {
  none: "No groups",
  phase: "By phase",
  source: "By source",
};

/** Search, filters, grouping, and a new task. */
export function Toolbar() {
  const grouping = useViewSettings((store) => store.grouping);
  const readOnlyReason = useReadOnlyReason();
  return (
    <div className={styles.toolbar} role="toolbar" aria-label="Search and filter">
      <TaskSearch />
      <FilterMenu />
      <Select
        label="Group"
        options={Object.entries(GROUPINGS) as [Grouping, string][]}
        value={grouping}
        onSelect={setGrouping}
      />
      <FilterChips />
      <HiddenSelectionNote />
      <span className={styles.spacer} />
      <Button disabled={readOnlyReason} onClick={() => openEditor(null)}>
        <Icon name="plus" />
        New task
      </Button>
    </div>
  );
}

export const SEARCH_ID = "search";

function TaskSearch() {
  const filter = useViewSettings((store) => store.filter);
  return (
    <SearchField
      id={SEARCH_ID}
      className={styles.search}
      label="Search tasks"
      placeholder="Search"
      value={filter.query}
      onSearch={(query) => setFilter({ ...filter, query })}
      onKeyDown={(event) => event.key === "Escape" && event.currentTarget.blur()}
    />
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

const useFilterMenu = create(() => ({ open: false }));

export function openFilterMenu(): void {
  useFilterMenu.setState({ open: true });
}

function closeFilterMenu(): void {
  useFilterMenu.setState({ open: false });
}

/** The available filters, with the number of matching tasks. */
function FilterMenu() {
  const open = useFilterMenu((store) => store.open);
  const root = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const closeOutside = ({ target }: Event) => {
      if (target instanceof Node && !root.current?.contains(target)) closeFilterMenu();
    };
    document.addEventListener("pointerdown", closeOutside);
    document.addEventListener("focusin", closeOutside);
    return () => {
      document.removeEventListener("pointerdown", closeOutside);
      document.removeEventListener("focusin", closeOutside);
    };
  }, [open]);
  useEffect(() => closeFilterMenu, []);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !open) return;
    event.preventDefault();
    closeFilterMenu();
    root.current?.querySelector("button")?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the open menu in it
    <div ref={root} className={styles.filterMenu} onKeyDown={onKeyDown}>
      <Button
        aria-expanded={open}
        aria-haspopup="dialog"
        onClick={() => useFilterMenu.setState({ open: !open })}
      >
        Filter
      </Button>
      {open && <FilterMenuContent />}
    </div>
  );
}

function FilterMenuContent() {
  const tasks = useBoard(({ board }) => board.tasks);
  const filter = useViewSettings((store) => store.filter);
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => menu.current?.focus(), []);
  const options = useMemo(
    () => FILTER_KINDS.map((kind) => [kind, filterOptions(tasks.values(), kind, filter.only[kind])] as const),
    [tasks, filter],
  );
  return (
    <div ref={menu} className={styles.menu} role="dialog" aria-label="Filter" tabIndex={-1}>
      {options
        .filter(([, values]) => values.size > 0)
        .map(([kind, values]) => (
          <FilterGroup key={kind} kind={kind} values={values} />
        ))}
    </div>
  );
}

function FilterGroup({ kind, values }: { kind: FilterKind; values: ReadonlyMap<string, number> }) {
  const filter = useViewSettings((store) => store.filter);
  return (
    <fieldset className={styles.filterGroup}>
      <legend>{FILTER_KIND_NAMES[kind]}</legend>
      <div className={styles.options}>
        {[...values].map(([value, tasks]) => (
          <label key={value} className={styles.option}>
            <input
              type="checkbox"
              checked={filter.only[kind].includes(value)}
              onChange={() => setFilter(toggleFilter(filter, kind, value))}
            />
            <bdi className={styles.optionName}>{formatFilterValue(kind, value)}</bdi>
            <span className={styles.optionCount}>{tasks}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** The label of a filter's value. */
function formatFilterValue(kind: FilterKind, value: string): string {
  if (kind === "batch") return truncate(batchName(value));
  if (kind === "phase") return truncate(phaseTitle(value));
  return kind === "status" ? value.replaceAll("_", " ") : truncate(value);
}

function batchName(id: string): string {
  const name = useBoard.getState().board.batches.get(id)?.name;
  return name === undefined ? shortId(id) : `${name} · ${shortId(id)}`;
}

function phaseTitle(phase: string): string {
  const members = useBoard.getState().board.tasks.values();
  for (const task of members) if (task.phase === phase) return task.phaseTitle ?? phase;
  return phase;
}

/** The active filters; each can be removed. */
function FilterChips() {
  const filter = useViewSettings((store) => store.filter);
  const chips = FILTER_KINDS.flatMap((kind) => filter.only[kind].map((value) => ({ kind, value })));
  if (!isFiltering(filter)) return null;
  return (
    <ul className={styles.chips} aria-label="Filters">
      {chips.map(({ kind, value }) => (
        <li key={`${kind} ${value}`}>
          <button
            type="button"
            className={styles.chip}
            aria-label={`Remove the filter ${FILTER_KIND_NAMES[kind]}: ${formatFilterValue(kind, value)}`}
            onClick={() => setFilter(toggleFilter(filter, kind, value))}
          >
            <span className={styles.chipKind}>{FILTER_KIND_NAMES[kind]}</span>
            <bdi className={styles.chipValue}>{formatFilterValue(kind, value)}</bdi>
            <Icon name="close" size={12} />
          </button>
        </li>
      ))}
      <li>
        <Button kind="quiet" onClick={clearFilter}>
          Show all
        </Button>
      </li>
    </ul>
  );
}
