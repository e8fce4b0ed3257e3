import { type KeyboardEvent, useEffect, useMemo, useRef } from "react";
import { create } from "zustand";
import { choices, KIND_NAMES, KINDS, type Kind, toggled } from "../model/filter";
import { Button } from "../parts/Button";
import { useBoard } from "../store/board";
import { valueWords } from "./Chips";
import styles from "./FilterMenu.module.css";
import { setFilter, useView } from "./view";

const useMenu = create(() => ({ open: false }));

export function openFilterMenu(): void {
  useMenu.setState({ open: true });
}

function close(): void {
  useMenu.setState({ open: false });
}

/** What the tasks can be narrowed to, and how many of them there are of each. */
export function FilterMenu() {
  const open = useMenu((store) => store.open);
  const around = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const elsewhere = ({ target }: Event) => {
      if (target instanceof Node && !around.current?.contains(target)) close();
    };
    document.addEventListener("pointerdown", elsewhere);
    document.addEventListener("focusin", elsewhere);
    return () => {
      document.removeEventListener("pointerdown", elsewhere);
      document.removeEventListener("focusin", elsewhere);
    };
  }, [open]);
  useEffect(() => close, []);
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== "Escape" || !open) return;
    event.preventDefault();
    close();
    around.current?.querySelector("button")?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes what is open in it
    <div ref={around} className={styles.around} onKeyDown={pressed}>
      <Button aria-expanded={open} aria-haspopup="dialog" onClick={() => useMenu.setState({ open: !open })}>
        Filter
      </Button>
      {open && <Menu />}
    </div>
  );
}

function Menu() {
  const tasks = useBoard(({ board }) => board.tasks);
  const filter = useView((store) => store.filter);
  const menu = useRef<HTMLDivElement>(null);
  useEffect(() => menu.current?.focus(), []);
  const found = useMemo(
    () => KINDS.map((kind) => [kind, choices(tasks.values(), kind, filter.only[kind])] as const),
    [tasks, filter],
  );
  return (
    <div ref={menu} className={styles.menu} role="dialog" aria-label="Filter" tabIndex={-1}>
      {found
        .filter(([, values]) => values.size > 0)
        .map(([kind, values]) => (
          <Choice key={kind} kind={kind} values={values} />
        ))}
    </div>
  );
}

function Choice({ kind, values }: { kind: Kind; values: ReadonlyMap<string, number> }) {
  const filter = useView((store) => store.filter);
  return (
    <fieldset className={styles.kind}>
      <legend>{KIND_NAMES[kind]}</legend>
      <div className={styles.values}>
        {[...values].map(([value, tasks]) => (
          <label key={value} className={styles.value}>
            <input
              type="checkbox"
              checked={filter.only[kind].includes(value)}
              onChange={() => setFilter(toggled(filter, kind, value))}
            />
            <bdi className={styles.name}>{valueWords(kind, value)}</bdi>
            <span className={styles.count}>{tasks}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
