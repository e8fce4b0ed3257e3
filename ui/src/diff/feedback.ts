/* Comments as the words that an agent is given for its next attempt. Pure. */

import type { Line } from "./change";
import type { Comment, Place } from "./comments";
import { plain } from "./pieces";
import type { Side } from "./rows";

export const MOST = 100_000; // letters: more is refused
const QUOTED = 20; // lines of a quote
const WIDTH = 400; // letters of a quoted line

/** By file and line, each with what it is about. */
export function feedback(comments: readonly Comment[], attempt: number): string {
  const parts = inOrder(comments).map((comment) => {
    const older = comment.attempt > 0 && comment.attempt !== attempt ? `, in attempt ${comment.attempt}` : "";
    const removed = comment.side === "old" ? ", as it was before" : "";
    return [`${where(comment)}${removed}${older}`, ...quote(comment), comment.text].join("\n");
  });
  const many = comments.length === 1 ? "A comment" : `${comments.length} comments`;
  return [`${many} on what was changed, by file and line:`, ...parts].join("\n\n");
}

/** `src/roof.py:3-5`. */
export function where({ path, from, to }: Pick<Place, "path" | "from" | "to">): string {
  const name = plain(path);
  return from === to ? `${name}:${from}` : `${name}:${from}-${to}`;
}

export function inOrder(comments: readonly Comment[]): Comment[] {
  return [...comments].sort(
    (a, b) =>
      (a.path < b.path ? -1 : a.path > b.path ? 1 : 0) || a.from - b.from || a.to - b.to || a.id - b.id,
  );
}

/** What is pointed at by these neighbouring lines; `null` where they have no numbers. Their side is `side`, if they are on it. */
export function placeAt(path: string, lines: readonly Line[], side: Side, attempt: number): Place | null {
  for (const each of side === "new" ? (["new", "old"] as const) : (["old", "new"] as const)) {
    const numbers = lines.map((line) => line[each]).filter((n) => n > 0);
    if (numbers.length === 0) continue;
    const [from, to] = [numbers[0] ?? 0, numbers.at(-1) ?? 0];
    const quote = lines.slice(0, QUOTED).map(({ kind, text }) => cut(`${SIGNS[kind]}${text}`));
    return { path, side: each, from, to, quote, more: Math.max(0, lines.length - QUOTED), attempt };
  }
  return null;
}

const SIGNS = { same: " ", added: "+", removed: "-" } as const;

function cut(line: string): string {
  return line.length > WIDTH ? `${line.slice(0, WIDTH)} …` : line;
}

function quote({ quote: lines, more }: Place): string[] {
  const shown = lines.map((line) => `> ${line}`);
  return more > 0 ? [...shown, `> … ${more} more ${more === 1 ? "line" : "lines"}`] : shown;
}
