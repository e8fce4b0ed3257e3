/* Splits a line into segments that are rendered alike. Invisible and bidi characters are spelled out. Pure. */

import type { Syntax, SyntaxRange } from "./highlight";
import type { Range } from "./wordDiff";

interface Segment {
  readonly text: string;
  /** A changed word. */
  readonly changed: boolean;
  /** A search match. */
  readonly matched: boolean;
  /** Spelled out: a control, bidirectional or zero-width character. */
  readonly special: boolean;
  readonly syntax: Syntax | null;
}

export const MAX_LINE_LENGTH = 5000; // characters of a line that are rendered
const SPECIAL = /(?!\t)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

export function segmentLine(
  text: string,
  changed: readonly Range[] = [],
  matched: readonly Range[] = [],
  syntax: readonly SyntaxRange[] = [],
): Segment[] {
  const shown = text.length > MAX_LINE_LENGTH ? text.slice(0, MAX_LINE_LENGTH) : text;
  if (changed.length === 0 && matched.length === 0 && syntax.length === 0 && !SPECIAL.test(shown)) {
    return shown === ""
      ? []
      : [{ text: shown, changed: false, matched: false, special: false, syntax: null }];
  }
  const segments: { -readonly [K in keyof Segment]: Segment[K] }[] = [];
  const syntaxAt = syntaxReader(syntax);
  const [isChanged, isMatched] = [rangeTest(changed), rangeTest(matched)];
  let place = 0;
  for (const letter of shown) {
    const next = {
      text: letter,
      changed: isChanged(place),
      matched: isMatched(place),
      special: SPECIAL.test(letter),
      syntax: syntaxAt(place),
    };
    const last = segments.at(-1);
    if (next.special) next.text = spellOut(letter);
    if (
      last?.changed === next.changed &&
      last.matched === next.matched &&
      last.special === next.special &&
      last.syntax === next.syntax
    )
      last.text += next.text;
    else segments.push(next);
    place += letter.length;
  }
  return segments;
}

/** A name or path with invisible characters spelled out. */
export function escapeSpecial(text: string): string {
  return SPECIAL.test(text)
    ? Array.from(text, (letter) => (SPECIAL.test(letter) ? spellOut(letter) : letter)).join("")
    : text;
}

function spellOut(letter: string): string {
  const code = letter.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/** Whether a position is in one of the sorted ranges; positions must be asked for in order. */
function rangeTest(ranges: readonly Range[]): (place: number) => boolean {
  let next = 0;
  return (place) => {
    for (let at = ranges[next]; at !== undefined && at[1] <= place; at = ranges[next]) next += 1;
    return place >= (ranges[next]?.[0] ?? Number.POSITIVE_INFINITY);
  };
}

/** The syntax at a position; positions must be asked for in order. */
function syntaxReader(ranges: readonly SyntaxRange[]): (place: number) => Syntax | null {
  let next = 0;
  return (place) => {
    for (let at = ranges[next]; at !== undefined && at.end <= place; at = ranges[next]) next += 1;
    const range = ranges[next];
    return range !== undefined && range.start <= place ? range.syntax : null;
  };
}
