/* Fuzzy matching for the palette. Pure. */

/** A searchable item. `words` are searched like `title`, but count less. */
export interface Findable {
  readonly key: string;
  readonly title: string;
  readonly keywords?: string;
  readonly disabled?: string | null | undefined;
}

export interface Match<T extends Findable> {
  readonly item: T;
  /** The positions of the matched letters in the title. */
  readonly marks: readonly number[];
}

const DISABLED_PENALTY = 10_000;
const WORD_BREAK = /[\s/._:·[\]()-]/;

/**
 * Best matches first, disabled ones last; equal ones by recent use, then in the given order. Without a query,
 * by recent use, then in the given order.
 */
export function rank<T extends Findable>(
  query: string,
  items: readonly T[],
  recent: readonly string[] = [],
  limit = 50,
): readonly Match<T>[] {
  const wanted = query.trim().toLowerCase();
  const recency = new Map(recent.map((key, n) => [key, recent.length - n]));
  const found: { item: T; marks: readonly number[]; score: number; n: number }[] = [];
  items.forEach((item, n) => {
    const match = wanted === "" ? { score: 0, marks: [] } : matchItem(wanted, item);
    if (match === null) return;
    const used = recency.get(item.key) ?? 0;
    const bonus = used === 0 ? 0 : wanted === "" ? 1000 + used : 2 + used / 100;
    found.push({
      item,
      n,
      marks: match.marks,
      score: match.score + bonus - (item.disabled && wanted !== "" ? DISABLED_PENALTY : 0),
    });
  });
  return found.sort((a, b) => b.score - a.score || a.n - b.n).slice(0, limit);
}

function matchItem(wanted: string, { title, keywords = "" }: Findable) {
  const inTitle = matchWords(wanted, title.toLowerCase());
  if (inTitle !== null || keywords === "") return inTitle;
  const inKeywords = matchWords(wanted, `${title} ${keywords}`.toLowerCase(), false);
  if (inKeywords === null) return null;
  return { score: inKeywords.score - 10, marks: inKeywords.marks.filter((at) => at < title.length) };
}

/**
 * Finds every word of `wanted` in `text`, as a substring or, if allowed, as a subsequence; `null`: no match.
 */
export function matchWords(
  wanted: string,
  text: string,
  allowScattered = true,
): { score: number; marks: readonly number[] } | null {
  const marks: number[] = [];
  let score = 0;
  for (const word of wanted.split(/\s+/)) {
    const one = matchSubstring(word, text) ?? (allowScattered ? matchScattered(word, text) : null);
    if (one === null) return null;
    score += one.score;
    marks.push(...one.marks);
  }
  return { score: score - text.length / 200, marks: [...new Set(marks)].sort((a, b) => a - b) };
}

/** As a substring: best at the start, then at the start of a word. */
function matchSubstring(word: string, text: string) {
  let [best, at] = [-1, -1];
  for (let from = text.indexOf(word); from >= 0; from = text.indexOf(word, from + 1)) {
    const score = from === 0 ? 40 : WORD_BREAK.test(text[from - 1] ?? "") ? 30 : 20;
    if (score > best) [best, at] = [score, from];
  }
  if (at < 0) return null;
  const full = at === 0 && word.length === text.length ? 20 : 0;
  return { score: best + full, marks: Array.from(word, (_, n) => at + n) };
}

/** As a subsequence: the more parts begin a word, the better. Letters that are too far apart don't match. */
function matchScattered(word: string, text: string) {
  const marks: number[] = [];
  let [score, at] = [0, -1];
  for (const letter of word) {
    const from = at + 1;
    const start = wordStart(text, letter, from);
    const next = text.indexOf(letter, from);
    if (next < 0) return null;
    at = next === from && from > 0 ? next : start >= 0 ? start : next;
    if (at === 0 || WORD_BREAK.test(text[at - 1] ?? "")) score += 4;
    else if (at === from) score += 2;
    marks.push(at);
  }
  const spread = at - (marks[0] ?? 0) + 1;
  return score < word.length * 2 - 1 || spread > 20 * word.length
    ? null
    : { score: Math.min(15, score), marks };
}

function wordStart(text: string, letter: string, from: number): number {
  for (let at = text.indexOf(letter, from); at >= 0; at = text.indexOf(letter, at + 1)) {
    if (at === 0 || WORD_BREAK.test(text[at - 1] ?? "")) return at;
  }
  return -1;
}
