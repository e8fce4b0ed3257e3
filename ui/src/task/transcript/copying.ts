/* Text for the clipboard. */

import { lineStart } from "./rows";
import { ROW_HEIGHT, type TranscriptWindow } from "./window";

/** The lines that are seen, whole. */
export function visibleText(shown: TranscriptWindow, height: number): string {
  const { pageRows } = shown.view;
  const top = Math.floor(shown.top() / ROW_HEIGHT);
  const bottom = Math.ceil((shown.top() + height) / ROW_HEIGHT);
  return pageRows
    .filter(({ first, count }) => first < bottom && first + count > top)
    .map(({ page, rows, first }) => {
      const from = rows.starts[Math.max(0, top - first)] ?? 0;
      const to = rows.ends[Math.min(rows.ends.length, bottom - first) - 1] ?? page.text.length;
      const end = page.text.indexOf("\n", to);
      return page.text.slice(lineStart(page.text, from), end < 0 ? undefined : end + 1);
    })
    .join("");
}

/** What is selected of the rows, with the lines as they were printed: a row that goes on is no line. */
export function selectedText(container: HTMLElement): string | null {
  const selection = window.getSelection();
  if (selection === null || selection.isCollapsed || !container.contains(selection.anchorNode)) return null;
  const rows = [...selection.getRangeAt(0).cloneContents().querySelectorAll<HTMLElement>("[data-row]")];
  if (rows.length === 0) return selection.toString();
  return rows
    .map((row, n) => row.textContent + (row.dataset.row === "on" || n === rows.length - 1 ? "" : "\n"))
    .join("");
}

/** The same in a shell. */
export function logsCommand(
  batchId: string,
  taskId: string,
  step: string,
  attempt: number,
  newest: boolean,
): string {
  const args = ["plait", "logs", shellQuote(batchId), shellQuote(taskId)];
  if (step !== "write") args.push("--step", step);
  if (!newest) args.push("--attempt", String(attempt));
  return args.join(" ");
}

function shellQuote(arg: string): string {
  return /^[\w@%+=:,./-]+$/.test(arg) ? arg : `'${arg.replaceAll("'", `'\\''`)}'`;
}
