/* Looking for words in a transcript: in what is held, and page by page through all of it. Upper and lower case are one. */

import { PAGE, type Page, type Pages } from "./pages";

/** A character of a page. */
export interface Spot {
  readonly page: number;
  readonly char: number;
}

export interface Search {
  readonly words: string;
  readonly from: Spot;
  readonly down: boolean;
  readonly signal: AbortSignal;
  /** How much of it was looked at, from 0 to 1. */
  progress(share: number): void;
}

const STRETCH = 16; // pages that are looked at together

/** Where the words begin, from top to bottom. */
export function matches(text: string, words: string): number[] {
  if (words === "") return [];
  const [within, wanted] = [folded(text), folded(words)];
  const found: number[] = [];
  for (let at = within.indexOf(wanted); at >= 0; at = within.indexOf(wanted, at + wanted.length))
    found.push(at);
  return found;
}

/** The next match that way, after `from`; at the end it goes on from the other one. `null`: there is none, or it was aborted. */
export async function find(pages: Pages, search: Search): Promise<Spot | null> {
  const here = await pages.page(search.from.page);
  const near = pick(here, search.words, search.down, search.from.char);
  if (near !== null) return near;
  const seen = new Tally(pages, search);
  const step = search.down ? downwards : upwards;
  const onwards = search.down ? pages.after(here.index) : pages.before(here.index);
  const found = onwards === null ? null : await step(pages, search, onwards, null, seen);
  if (found !== null || search.signal.aborted) return found;
  return step(pages, search, search.down ? 0 : pages.last, here.index, seen);
}

/** Lower case where that leaves every character in its place. */
function folded(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length ? lower : text;
}

/** The nearest one after this character, or before it. */
function pick(page: Page, words: string, down: boolean, char: number | null): Spot | null {
  const all = matches(page.text, words);
  const at = down
    ? all.find((each) => char === null || each > char)
    : all.findLast((each) => char === null || each < char);
  return at === undefined ? null : { page: page.index, char: at };
}

/** To the end, or through page `to`. */
async function downwards(
  pages: Pages,
  search: Search,
  first: number,
  to: number | null,
  seen: Tally,
): Promise<Spot | null> {
  for (let index: number | null = first; index !== null && (to === null || index <= to); ) {
    if (search.signal.aborted) return null;
    const part = await pages.stretch(index, STRETCH * PAGE);
    const hit = matches(part.text, search.words).length > 0;
    const next = pages.at(part.next);
    if (!hit && part.offset < part.next && next > index) {
      seen.add(next - index);
      index = next;
      continue;
    }
    const page: Page = await pages.page(index);
    const found = pick(page, search.words, true, null);
    if (found !== null) return found;
    seen.add(1);
    index = pages.after(page.index);
  }
  return null;
}

/** To the beginning, or through page `to`. */
async function upwards(
  pages: Pages,
  search: Search,
  last: number,
  to: number | null,
  seen: Tally,
): Promise<Spot | null> {
  for (let index: number | null = last; index !== null && (to === null || index >= to); ) {
    if (search.signal.aborted) return null;
    const low = Math.max(0, index - STRETCH + 1);
    const part = await pages.stretch(low, (index - low + 3) * PAGE);
    const whole = part.next >= Math.min((index + 1) * PAGE, pages.size);
    if (whole && low < index && matches(part.text, search.words).length === 0) {
      seen.add(index - low + 1);
      index = pages.before(low);
      continue;
    }
    const page: Page = await pages.page(index);
    const found = pick(page, search.words, false, null);
    if (found !== null) return found;
    seen.add(1);
    index = pages.before(page.index);
  }
  return null;
}

class Tally {
  private pages = 0;

  constructor(
    private readonly of: Pages,
    private readonly search: Search,
  ) {}

  add(pages: number): void {
    this.pages += pages;
    this.search.progress(Math.min(1, this.pages / (this.of.last + 1)));
  }
}
