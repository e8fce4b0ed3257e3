import type { ReactNode } from "react";
import { count } from "../../model/format";
import { matches, type Spot } from "./find";
import type { Laid } from "./layout";
import type { Page } from "./pages";
import { FOLD, LINE } from "./rows";
import styles from "./Transcript.module.css";
import type { Window } from "./window";

const MORE = 20; // rows drawn beyond what is seen, on both sides

interface Props {
  shown: Window;
  /** The first and the last row that are seen. */
  from: number;
  to: number;
  words: string;
  current: Spot | null;
}

/** The rows that are seen, as text and nothing else. */
export function Rows({ shown, from, to, words, current }: Props) {
  const { laid } = shown.view;
  const rows: ReactNode[] = [];
  for (const each of laid) {
    const first = Math.max(each.first, from - MORE);
    const last = Math.min(each.first + each.count, to + MORE);
    for (let row = first; row < last; row += 1)
      rows.push(
        <Row
          key={`${each.page.index} ${row - each.first}`}
          laid={each}
          at={row - each.first}
          {...{ shown, words, current }}
        />,
      );
  }
  return rows;
}

/** How many rows come before those that are drawn. */
export function skipped(shown: Window, from: number): number {
  return Math.max(0, Math.min(from - MORE, shown.view.total));
}

function Row({
  laid,
  at,
  shown,
  words,
  current,
}: { laid: Laid; at: number } & Pick<Props, "shown" | "words" | "current">) {
  const { page, rows } = laid;
  const [start, end, kind] = [rows.starts[at], rows.ends[at], rows.kinds[at]];
  if (page.leftOut > 0) return <LeftOut bytes={page.leftOut} />;
  if (start === undefined || end === undefined) return <div className={styles.row} data-row="line" />;
  if (kind === FOLD) {
    return (
      <div className={styles.row}>
        <button type="button" className={styles.fold} onClick={() => shown.unfold(page.index, start)}>
          Show {count(end - start, "more character")} of this line
        </button>
      </div>
    );
  }
  const here = current?.page === page.index ? current.char : null;
  return (
    <div
      className={styles.row}
      data-row={kind === LINE ? "line" : "on"}
      data-begins={begins(page, start) || undefined}
    >
      {marked(page, start, end, words, here)}
    </div>
  );
}

function LeftOut({ bytes }: { bytes: number }) {
  return (
    <div className={styles.gap}>
      {size(bytes)} were left out here: the transcript is longer than what is kept of one
    </div>
  );
}

function begins(page: Page, start: number): boolean {
  return start === 0 || page.text[start - 1] === "\n";
}

/** A part of a page with the words that were looked for. */
function marked(page: Page, start: number, end: number, words: string, current: number | null): ReactNode {
  const found = words === "" ? [] : within(page, words).filter((at) => at < end && at + words.length > start);
  if (found.length === 0) return page.text.slice(start, end);
  const parts: ReactNode[] = [];
  let at = start;
  for (const match of found) {
    const [from, to] = [Math.max(match, start), Math.min(match + words.length, end)];
    parts.push(
      page.text.slice(at, from),
      <mark key={match} className={styles.match} data-current={match === current || undefined}>
        {page.text.slice(from, to)}
      </mark>,
    );
    at = to;
  }
  return [...parts, page.text.slice(at, end)];
}

const known = new WeakMap<Page, { words: string; found: number[] }>();

/** Looked for once for each page. */
export function within(page: Page, words: string): number[] {
  const before = known.get(page);
  if (before?.words === words) return before.found;
  const found = matches(page.text, words);
  known.set(page, { words, found });
  return found;
}

/** `512 bytes`, `64.0 kB`, `1.2 MB`. */
export function size(bytes: number): string {
  if (bytes < 1000) return count(bytes, "byte");
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(bytes < 10_000 ? 1 : 0)} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
