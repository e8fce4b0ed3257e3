/* A line cut into pieces that are drawn alike. What a reader could not see, or what could deceive one, is spelled out. */

import type { Range } from "./words";

export interface Piece {
  readonly text: string;
  /** A word that changed. */
  readonly marked: boolean;
  /** What somebody looks for. */
  readonly found: boolean;
  /** Spelled out: a control character, a mark of direction, a letter without width. */
  readonly odd: boolean;
}

export const LONGEST = 5000; // letters of a line that are drawn
const ODD = /(?!\t)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

export function pieces(text: string, marked: readonly Range[] = [], found: readonly Range[] = []): Piece[] {
  const shown = text.length > LONGEST ? text.slice(0, LONGEST) : text;
  if (marked.length === 0 && found.length === 0 && !ODD.test(shown)) {
    return shown === "" ? [] : [{ text: shown, marked: false, found: false, odd: false }];
  }
  const made: { text: string; marked: boolean; found: boolean; odd: boolean }[] = [];
  const [isMarked, isFound] = [along(marked), along(found)];
  let place = 0;
  for (const letter of shown) {
    const next = {
      text: letter,
      marked: isMarked(place),
      found: isFound(place),
      odd: ODD.test(letter),
    };
    const last = made.at(-1);
    if (next.odd) next.text = spelled(letter);
    if (last?.marked === next.marked && last.found === next.found && last.odd === next.odd)
      last.text += next.text;
    else made.push(next);
    place += letter.length;
  }
  return made;
}

/** A name or a path without anything that could hide in it. */
export function plain(text: string): string {
  return ODD.test(text)
    ? Array.from(text, (letter) => (ODD.test(letter) ? spelled(letter) : letter)).join("")
    : text;
}

function spelled(letter: string): string {
  const code = letter.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return `<U+${code.toString(16).toUpperCase().padStart(4, "0")}>`;
}

/** Whether a place is in one of the ranges, which are in order; asked from left to right. */
function along(ranges: readonly Range[]): (place: number) => boolean {
  let next = 0;
  return (place) => {
    for (let at = ranges[next]; at !== undefined && at[1] <= place; at = ranges[next]) next += 1;
    return place >= (ranges[next]?.[0] ?? Number.POSITIVE_INFINITY);
  };
}
