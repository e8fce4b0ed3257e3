/* Formats review comments as feedback for an agent's next attempt. Pure. */

import type { Comment, CommentAnchor } from "./commentDrafts";
import type { Side } from "./diffRows";
import { escapeSpecial } from "./lineSegments";
import type { Line } from "./parseDiff";

export const MAX_FEEDBACK_LENGTH = 100_000; // letters: more is refused
const MAX_QUOTED_LINES = 20; // lines of a quote
const MAX_QUOTED_WIDTH = 400; // letters of a quoted line

/** Comments by file and line, each with a quote. */
export function formatFeedback(comments: readonly Comment[], attempt: number): string {
  const parts = sortComments(comments).map((comment) => {
    const older = comment.attempt > 0 && comment.attempt !== attempt ? `, in attempt ${comment.attempt}` : "";
    const removed = comment.side === "old" ? ", old version" : "";
    return [`${formatLocation(comment)}${removed}${older}`, ...formatQuote(comment), comment.text].join("\n");
  });
  const subject = comments.length === 1 ? "A comment" : `${comments.length} comments`;
  return [`${subject} on the changes, by file and line:`, ...parts].join("\n\n");
}

/** The anchor of a comment that is about no line. */
export function wholeChange(attempt: number): CommentAnchor {
  return { path: "", side: "new", from: 0, to: 0, quote: [], more: 0, attempt };
}

/** `src/roof.py:3-5`. */
export function formatLocation({ path, from, to }: Pick<CommentAnchor, "path" | "from" | "to">): string {
  if (path === "") return "the whole change";
  const name = escapeSpecial(path);
  return from === to ? `${name}:${from}` : `${name}:${from}-${to}`;
}

export function sortComments(comments: readonly Comment[]): Comment[] {
  return [...comments].sort(
    (a, b) =>
      (a.path < b.path ? -1 : a.path > b.path ? 1 : 0) || a.from - b.from || a.to - b.to || a.id - b.id,
  );
}

/**
 * The range of these adjacent lines; `null` if they have no numbers. `side` is preferred if they are on it.
 */
export function anchorAt(
  path: string,
  lines: readonly Line[],
  side: Side,
  attempt: number,
): CommentAnchor | null {
  for (const each of side === "new" ? (["new", "old"] as const) : (["old", "new"] as const)) {
    const numbers = lines.map((line) => line[each]).filter((n) => n > 0);
    if (numbers.length === 0) continue;
    const [from, to] = [numbers[0] ?? 0, numbers.at(-1) ?? 0];
    const quote = lines
      .slice(0, MAX_QUOTED_LINES)
      .map(({ kind, text }) => truncateLine(`${SIGNS[kind]}${text}`));
    return { path, side: each, from, to, quote, more: Math.max(0, lines.length - MAX_QUOTED_LINES), attempt };
  }
  return null;
}

const SIGNS = { same: " ", added: "+", removed: "-" } as const;

function truncateLine(line: string): string {
  return line.length > MAX_QUOTED_WIDTH ? `${line.slice(0, MAX_QUOTED_WIDTH)} …` : line;
}

function formatQuote({ quote: lines, more }: CommentAnchor): string[] {
  const shown = lines.map((line) => `> ${line}`);
  return more > 0 ? [...shown, `> … ${more} more ${more === 1 ? "line" : "lines"}`] : shown;
}
