import { type KeyboardEvent, useDeferredValue, useEffect, useId, useMemo, useRef, useState } from "react";
import { flushSync } from "react-dom";
import { Dialog } from "../components/Dialog";
import { Icon } from "../components/Icon";
import { Kbd } from "../components/Kbd";
import { showToast } from "../components/Toasts";
import { loadList, saveItem } from "../store/browserStorage";
import styles from "./Finder.module.css";
import { type Item, useItems } from "./items";
import { type Match, rank } from "./match";

/** A search field with its matches: a combobox whose list is always open. The focus stays in the field. */
export function Finder({ onClose }: { onClose(): void }) {
  const [query, setQuery] = useState("");
  const [active, setActive] = useState(0);
  const list = useId();
  const [recentKeys] = useState(loadRecent);
  const items = useItems();
  const deferredQuery = useDeferredValue(query);
  const find = (text: string) => orderByGroup(rank(text, items, recentKeys));
  // biome-ignore lint/correctness/useExhaustiveDependencies: these are what it depends on
  const results = useMemo(() => find(deferredQuery), [deferredQuery, items, recentKeys]);
  const activeIndex = Math.min(active, results.length - 1);
  const runItem = (item: Item) => {
    if (item.disabled) return showToast(item.disabled);
    rememberItem(item.key);
    flushSync(onClose); // the focus returns before the command runs
    item.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const next = nextIndex(event.key, activeIndex, results.length);
    if (next !== null) setActive(next);
    else if (event.key !== "Enter") return;
    event.preventDefault();
    if (event.key !== "Enter") return;
    const match = query === deferredQuery ? results[activeIndex] : find(query)[0]; // the list may lag behind
    if (match !== undefined) runItem(match.item);
  };
  return (
    <Dialog title="Find anything" titleHidden onClose={onClose}>
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
            aria-activedescendant={results[activeIndex] ? `${list}${activeIndex}` : undefined}
            placeholder="Find a command, task, batch, setting"
            spellCheck={false}
            autoComplete="off"
            value={query}
            onChange={(event) => {
              setQuery(event.target.value);
              setActive(0);
            }}
            onKeyDown={onKeyDown}
          />
          <Kbd keys="Escape" />
        </div>
        <Results list={list} results={results} at={activeIndex} setActive={setActive} choose={runItem} />
        {results.length === 0 && <p className={styles.empty}>No results for “{deferredQuery}”.</p>}
        <p className="visually-hidden" role="status">
          {results.length === 1 ? "1 result" : `${results.length} results`}
        </p>
      </div>
    </Dialog>
  );
}

interface ResultsProps {
  list: string;
  results: readonly Match<Item>[];
  at: number;
  setActive(at: number): void;
  choose(item: Item): void;
}

function Results({ list, results, at, setActive, choose }: ResultsProps) {
  const listRef = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: scrolls to the active option whenever it changes
  useEffect(() => {
    listRef.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [at, results]);
  return (
    <div ref={listRef} id={list} role="listbox" aria-label="Results" className={styles.list}>
      {splitByGroup(results).map(({ group, from, matches }) => (
        // biome-ignore lint/a11y/useSemanticElements: there is no element for a group of options
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
              onPoint={() => setActive(from + n)}
              onChoose={() => choose(match.item)}
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
  onPoint(): void;
  onChoose(): void;
}

function Result({ id, match: { item, marks }, active, onPoint, onChoose }: ResultProps) {
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the active one
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field handles the keys
    <div
      id={id}
      role="option"
      aria-selected={active}
      aria-disabled={item.disabled ? true : undefined}
      className={styles.option}
      onMouseMove={onPoint}
      onClick={onChoose}
    >
      <span className={styles.title}>
        <Highlighted text={item.title} marks={marks} />
      </span>
      <span className={styles.note}>{item.disabled ?? item.note}</span>
      {item.keys && <Kbd keys={item.keys} />}
    </div>
  );
}

function Highlighted({ text, marks }: { text: string; marks: readonly number[] }) {
  const at = new Set(marks);
  const segments: { from: number; text: string; marked: boolean }[] = [];
  for (let n = 0; n < text.length; n++) {
    const last = segments.at(-1);
    if (last !== undefined && last.marked === at.has(n)) last.text += text[n];
    else segments.push({ from: n, text: text[n] ?? "", marked: at.has(n) });
  }
  return segments.map(({ from, text: segment, marked }) =>
    marked ? <mark key={from}>{segment}</mark> : <span key={from}>{segment}</span>,
  );
}

/** Groups, ordered by their best match. */
function orderByGroup(found: readonly Match<Item>[]): readonly Match<Item>[] {
  const groups = new Map<string, Match<Item>[]>();
  for (const match of found) {
    const known = groups.get(match.item.group) ?? [];
    groups.set(match.item.group, known);
    known.push(match);
  }
  return [...groups.values()].flat();
}

function splitByGroup(found: readonly Match<Item>[]) {
  const groups: { group: string; from: number; matches: Match<Item>[] }[] = [];
  found.forEach((match, n) => {
    const last = groups.at(-1);
    if (last?.group === match.item.group) last.matches.push(match);
    else groups.push({ group: match.item.group, from: n, matches: [match] });
  });
  return groups;
}

/** The option that a key leads to, wrapping around; `null` if it leads nowhere. */
function nextIndex(key: string, at: number, count: number): number | null {
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

const KEY = "plait.recent";
const MAX_RECENT = 12;

function loadRecent(): readonly string[] {
  return loadList(KEY);
}

function rememberItem(key: string): void {
  const next = [key, ...loadRecent().filter((each) => each !== key)].slice(0, MAX_RECENT);
  saveItem(KEY, JSON.stringify(next));
}
