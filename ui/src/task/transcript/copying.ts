/* Text for the clipboard. */

import { lineAt } from "./rows";
import { ROW, type Window } from "./window";

/** The lines that are seen, whole. */
export function visible(shown: Window, height: number): string {
  const { laid } = shown.view;
  const top = Math.floor(shown.top() / ROW);
  const bottom = Math.ceil((shown.top() + height) / ROW);
  return laid
    .filter(({ first, count }) => first < bottom && first + count > top)
    .map(({ page, rows, first }) => {
      const from = rows.starts[Math.max(0, top - first)] ?? 0;
      const to = rows.ends[Math.min(rows.ends.length, bottom - first) - 1] ?? page.text.length;
      const end = page.text.indexOf("\n", to);
      return page.text.slice(lineAt(page.text, from), end < 0 ? undefined : end + 1);
    })
    .join("");
}

/** What is selected of the rows, with the lines as they were printed: a row that goes on is no line. */
export function selected(within: HTMLElement): string | null {
  const selection = window.getSelection();
  if (selection === null || selection.isCollapsed || !within.contains(selection.anchorNode)) return null;
  const rows = [...selection.getRangeAt(0).cloneContents().querySelectorAll<HTMLElement>("[data-row]")];
  if (rows.length === 0) return selection.toString();
  return rows
    .map((row, n) => row.textContent + (row.dataset.row === "on" || n === rows.length - 1 ? "" : "\n"))
    .join("");
}

/** The same in a shell. */
export function command(
  batchId: string,
  taskId: string,
  step: string,
  attempt: number,
  newest: boolean,
): string {
  const words = ["plait", "logs", quoted(batchId), quoted(taskId)];
  if (step !== "write") words.push("--step", step);
  if (!newest) words.push("--attempt", String(attempt));
  return words.join(" ");
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
