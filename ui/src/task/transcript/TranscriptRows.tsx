import type { ReactNode } from "react";
import { formatSize, pluralize } from "../../model/format";
import { findMatches, type Position } from "./search";
import styles from "./Transcript.module.css";
import { type PageRows, ROW_FOLD, ROW_LINE } from "./textRows";
import type { Page } from "./transcriptPages";
import type { TranscriptWindow } from "./transcriptWindow";

const OVERSCAN = 20; // rows rendered beyond the visible ones, on both sides

interface Props {
  shown: TranscriptWindow;
  /** The first and last visible row. */
  from: number;
  to: number;
  query: string;
  current: Position | null;
}

/** The visible rows, as plain text. */
export function TranscriptRows({ shown, from, to, query, current }: Props) {
  const { pageRows } = shown.view;
  const rows: ReactNode[] = [];
  for (const each of pageRows) {
    const first = Math.max(each.first, from - OVERSCAN);
    const last = Math.min(each.first + each.count, to + OVERSCAN);
    for (let row = first; row < last; row += 1)
      rows.push(
        <TranscriptRow
          key={`${each.page.index} ${row - each.first}`}
          rowsOfPage={each}
          at={row - each.first}
          {...{ shown, query, current }}
        />,
      );
  }
  return rows;
}

/** The number of rows before the rendered ones. */
export function skippedRows(shown: TranscriptWindow, from: number): number {
  return Math.max(0, Math.min(from - OVERSCAN, shown.view.total));
}

function TranscriptRow({
  rowsOfPage,
  at,
  shown,
  query,
  current,
}: { rowsOfPage: PageRows; at: number } & Pick<Props, "shown" | "query" | "current">) {
  const { page, rows } = rowsOfPage;
  const [start, end, kind] = [rows.starts[at], rows.ends[at], rows.kinds[at]];
  if (page.omittedBytes > 0) return <OmittedNote bytes={page.omittedBytes} />;
  if (start === undefined && rowsOfPage.skippedBytes > 0)
    return <div className={styles.gap}>{formatSize(rowsOfPage.skippedBytes)} of a long line: see Raw</div>;
  if (start === undefined || end === undefined) return <div className={styles.row} data-row="line" />;
  if (kind === ROW_FOLD) {
    return (
      <div className={styles.row}>
        <button type="button" className={styles.fold} onClick={() => shown.unfold(page.index, start)}>
          Show {pluralize(end - start, "more character")} of this line
        </button>
      </div>
    );
  }
  const here = current?.page === page.index ? current.char : null;
  return (
    <div
      className={styles.row}
      data-row={kind === ROW_LINE ? "line" : "on"}
      data-begins={startsLine(page, start) || undefined}
    >
      {highlight(page, start, end, query, here)}
    </div>
  );
}

function OmittedNote({ bytes }: { bytes: number }) {
  return (
    <div className={styles.gap}>{formatSize(bytes)} omitted here: the transcript exceeds the size limit</div>
  );
}

function startsLine(page: Page, start: number): boolean {
  return start === 0 || page.text[start - 1] === "\n";
}

/** A part of a page with highlighted matches. */
function highlight(page: Page, start: number, end: number, query: string, current: number | null): ReactNode {
  const found =
    query === "" ? [] : pageMatches(page, query).filter((at) => at < end && at + query.length > start);
  if (found.length === 0) return page.text.slice(start, end);
  const parts: ReactNode[] = [];
  let at = start;
  for (const match of found) {
    const [from, to] = [Math.max(match, start), Math.min(match + query.length, end)];
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

const matchCache = new WeakMap<Page, { words: string; found: number[] }>();

/** Matches, computed once per page. */
export function pageMatches(page: Page, query: string): number[] {
  const cached = matchCache.get(page);
  if (cached?.words === query) return cached.found;
  const found = findMatches(page.text, query);
  matchCache.set(page, { words: query, found });
  return found;
}
