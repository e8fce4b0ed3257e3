import { type KeyboardEvent, useDeferredValue, useEffect, useId, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { Dialog } from "../parts/Dialog";
import { Icon } from "../parts/Icon";
import { Kbd } from "../parts/Kbd";
import { say } from "../parts/Toasts";
import styles from "./Finder.module.css";
import { type Item, useItems } from "./items";
import { type Match, rank } from "./match";
import { recent, remember } from "./recent";

/** One field, and what fits it: a combobox whose list is always open. The focus stays in the field. */
export default function Finder({ onClose }: { onClose(): void }) {
  const [query, setQuery] = useState("");
  const [active, setActive] = useState(0);
  const list = useId();
  const [lately] = useState(recent);
  const items = useItems();
  const asked = useDeferredValue(query);
  const found = useMemo(() => ordered(rank(asked, items, lately)), [asked, items, lately]);
  const at = Math.min(active, found.length - 1);
  const choose = (item: Item) => {
    if (item.disabled) return say(item.disabled);
    remember(item.key);
    flushSync(onClose); // the focus is back where it was before anything is done there
    item.run();
  };
  const pressed = (event: KeyboardEvent) => {
    const next = moved(event.key, at, found.length);
    if (next !== null) setActive(next);
    else if (event.key === "Enter" && found[at]) choose(found[at].item);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Find anything" titleUnseen onClose={onClose}>
      <div className={styles.finder}>
        <div className={styles.field}>
          <Icon name="search" />
          <input
            type="text"
            role="combobox"
            aria-label="Find anything"
            aria-expanded="true"
            aria-controls={list}
            aria-autocomplete="list"
            aria-activedescendant={found[at] ? `${list}${at}` : undefined}
            placeholder="Find a command, task, batch, setting"
            spellCheck={false}
            autoComplete="off"
            value={query}
            onChange={(event) => {
              setQuery(event.target.value);
              setActive(0);
            }}
            onKeyDown={pressed}
          />
          <Kbd keys="Escape" />
        </div>
        <Results list={list} found={found} at={at} setActive={setActive} choose={choose} />
        {found.length === 0 && <p className={styles.none}>Nothing is called “{asked}”.</p>}
        <p className="unseen" role="status">
          {found.length === 1 ? "1 result" : `${found.length} results`}
        </p>
      </div>
    </Dialog>
  );
}

interface ResultsProps {
  list: string;
  found: readonly Match<Item>[];
  at: number;
  setActive(at: number): void;
  choose(item: Item): void;
}

function Results({ list, found, at, setActive, choose }: ResultsProps) {
  const shown = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what is active must be seen, whenever it changes
  useEffect(() => {
    shown.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [at, found]);
  return (
    <div ref={shown} id={list} role="listbox" aria-label="Results" className={styles.list}>
      {sections(found).map(({ group, from, matches }) => (
        // biome-ignore lint/a11y/useSemanticElements: a group of options, which no element is
        <div key={group} role="group" aria-label={group}>
          <p className={styles.group} aria-hidden="true">
            {group}
          </p>
          {matches.map((match, n) => (
            <Result
              key={match.item.key}
              id={`${list}${from + n}`}
              match={match}
              active={from + n === at}
              point={() => setActive(from + n)}
              choose={() => choose(match.item)}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

interface ResultProps {
  id: string;
  match: Match<Item>;
  active: boolean;
  point(): void;
  choose(): void;
}

function Result({ id, match: { item, marks }, active, point, choose }: ResultProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the active one
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field hears the keys
    <div
      id={id}
      role="option"
      aria-selected={active}
      aria-disabled={item.disabled ? true : undefined}
      className={styles.option}
      onMouseMove={point}
      onClick={choose}
    >
      <span className={styles.title}>
        <Marked text={item.title} marks={marks} />
      </span>
      <span className={styles.note}>{item.disabled ?? item.note}</span>
      {item.keys && <Kbd keys={item.keys} />}
    </div>
  );
}

function Marked({ text, marks }: { text: string; marks: readonly number[] }) {
  const at = new Set(marks);
  const pieces: { from: number; text: string; marked: boolean }[] = [];
  for (let n = 0; n < text.length; n++) {
    const last = pieces.at(-1);
    if (last !== undefined && last.marked === at.has(n)) last.text += text[n];
    else pieces.push({ from: n, text: text[n] ?? "", marked: at.has(n) });
  }
  return pieces.map(({ from, text: piece, marked }) =>
    marked ? <mark key={from}>{piece}</mark> : <span key={from}>{piece}</span>,
  );
}

/** By groups, each where its best one stands. */
function ordered(found: readonly Match<Item>[]): readonly Match<Item>[] {
  const groups = new Map<string, Match<Item>[]>();
  for (const match of found) {
    const known = groups.get(match.item.group) ?? [];
    groups.set(match.item.group, known);
    known.push(match);
  }
  return [...groups.values()].flat();
}

function sections(found: readonly Match<Item>[]) {
  const made: { group: string; from: number; matches: Match<Item>[] }[] = [];
  found.forEach((match, n) => {
    const last = made.at(-1);
    if (last?.group === match.item.group) last.matches.push(match);
    else made.push({ group: match.item.group, from: n, matches: [match] });
  });
  return made;
}

/** Where a key leads; `null`: it leads nowhere. From the last on to the first. */
function moved(key: string, at: number, count: number): number | null {
  if (count === 0) return null;
  switch (key) {
    case "ArrowDown":
      return (at + 1) % count;
    case "ArrowUp":
      return (at - 1 + count) % count;
    case "PageDown":
      return Math.min(at + 8, count - 1);
    case "PageUp":
      return Math.max(at - 8, 0);
    default:
      return null;
  }
}
