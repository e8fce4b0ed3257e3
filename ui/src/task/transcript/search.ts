/* Search in a transcript, page by page and ignoring case. */

import { PAGE_BYTES, type Page, type TranscriptPages } from "./transcriptPages";

/** The position of a character: page and offset. */
export interface Position {
  readonly page: number;
  readonly char: number;
}

interface SearchRequest {
  readonly query: string;
  readonly from: Position;
  readonly down: boolean;
  readonly signal: AbortSignal;
  /** The searched share, from 0 to 1. */
  progress(share: number): void;
}

const PAGES_PER_REQUEST = 16; // pages that are searched together

/** The positions of matches, from top to bottom. */
export function findMatches(text: string, query: string): number[] {
  if (query === "") return [];
  const [within, wanted] = [foldCase(text), foldCase(query)];
  const found: number[] = [];
  for (let at = within.indexOf(wanted); at >= 0; at = within.indexOf(wanted, at + wanted.length))
    found.push(at);
  return found;
}

/** The next match in that direction, wrapping around. `null` if there is none or the search was aborted. */
export async function findNext(pages: TranscriptPages, search: SearchRequest): Promise<Position | null> {
  const here = await pages.page(search.from.page);
  const onPage = nearestMatch(here, search.query, search.down, search.from.char);
  if (onPage !== null) return onPage;
  const progress = new SearchProgress(pages, search);
  const searchPages = search.down ? searchDown : searchUp;
  const start = search.down ? pages.after(here.index) : pages.before(here.index);
  const found = start === null ? null : await searchPages(pages, search, start, null, progress);
  if (found !== null || search.signal.aborted) return found;
  return searchPages(pages, search, search.down ? 0 : pages.last, here.index, progress);
}

/** Lower case, if that keeps all positions. */
function foldCase(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text;
}

/** The nearest match after or before this character. */
function nearestMatch(page: Page, query: string, down: boolean, char: number | null): Position | null {
  const all = findMatches(page.text, query);
  const at = down
    ? all.find((each) => char === null || each > char)
    : all.findLast((each) => char === null || each < char);
  return at === undefined ? null : { page: page.index, char: at };
}

/** Searches forward to the end, or through page `to`. */
async function searchDown(
  pages: TranscriptPages,
  search: SearchRequest,
  first: number,
  to: number | null,
  progress: SearchProgress,
): Promise<Position | null> {
  for (let index: number | null = first; index !== null && (to === null || index <= to); ) {
    if (search.signal.aborted) return null;
    const part = await pages.readFrom(index, PAGES_PER_REQUEST * PAGE_BYTES);
    const hit = findMatches(part.text, search.query).length > 0;
    const next = pages.indexAt(part.next);
    if (!hit && part.offset < part.next && next > index) {
      progress.add(next - index);
      index = next;
      continue;
    }
    const page: Page = await pages.page(index);
    const found = nearestMatch(page, search.query, true, null);
    if (found !== null) return found;
    progress.add(1);
    index = pages.after(page.index);
  }
  return null;
}

/** Searches backward to the beginning, or through page `to`. */
async function searchUp(
  pages: TranscriptPages,
  search: SearchRequest,
  last: number,
  to: number | null,
  progress: SearchProgress,
): Promise<Position | null> {
  for (let index: number | null = last; index !== null && (to === null || index >= to); ) {
    if (search.signal.aborted) return null;
    const low = Math.max(0, index - PAGES_PER_REQUEST + 1);
    const part = await pages.readFrom(low, (index - low + 3) * PAGE_BYTES);
    const whole = part.next >= Math.min((index + 1) * PAGE_BYTES, pages.size);
    if (whole && low < index && findMatches(part.text, search.query).length === 0) {
      progress.add(index - low + 1);
      index = pages.before(low);
      continue;
    }
    const page: Page = await pages.page(index);
    const found = nearestMatch(page, search.query, false, null);
    if (found !== null) return found;
    progress.add(1);
    index = pages.before(page.index);
  }
  return null;
}

class SearchProgress {
  private pages = 0;

  constructor(
    private readonly of: TranscriptPages,
    private readonly search: SearchRequest,
  ) {}

  add(pages: number): void {
    this.pages += pages;
    this.search.progress(Math.min(1, this.pages / (this.of.last + 1)));
  }
}
