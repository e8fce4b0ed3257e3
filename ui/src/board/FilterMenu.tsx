import { type KeyboardEvent, useEffect, useMemo, useRef } from "react";
import { create } from "zustand";
import {
  FILTER_KIND_NAMES,
  FILTER_KINDS,
  type FilterKind,
  filterOptions,
  toggleFilter,
} from "../model/filter";
import { Button } from "../parts/Button";
import { useBoard } from "../store/board";
import { formatFilterValue } from "./Chips";
import styles from "./FilterMenu.module.css";
import { setFilter, useViewSettings } from "./view";

const useFilterMenu = create(() => ({ open: false }));

export function openFilterMenu(): void {
  useFilterMenu.setState({ open: true });
}

function closeFilterMenu(): void {
  useFilterMenu.setState({ open: false });
}

/** What the tasks can be narrowed to, and how many of them there are of each. */
export function FilterMenu() {
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
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes what is open in it
    <div ref={root} className={styles.around} onKeyDown={onKeyDown}>
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
    <fieldset className={styles.kind}>
      <legend>{FILTER_KIND_NAMES[kind]}</legend>
      <div className={styles.values}>
        {[...values].map(([value, tasks]) => (
          <label key={value} className={styles.value}>
            <input
              type="checkbox"
              checked={filter.only[kind].includes(value)}
              onChange={() => setFilter(toggleFilter(filter, kind, value))}
            />
            <bdi className={styles.name}>{formatFilterValue(kind, value)}</bdi>
            <span className={styles.count}>{tasks}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
