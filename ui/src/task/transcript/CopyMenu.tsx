import type { RefObject } from "react";
import { Button } from "../../components/Button";
import { Icon } from "../../components/Icon";
import { Popover } from "../../components/Popover";
import { copyToClipboard } from "../../components/Toasts";
import styles from "./Transcript.module.css";
import { lineStart } from "./textRows";
import type { AttemptRef } from "./transcriptReader";
import { ROW_HEIGHT, type TranscriptWindow } from "./transcriptWindow";

interface Props {
  of: AttemptRef;
  newest: boolean;
  shown: TranscriptWindow;
  scroller: RefObject<HTMLDivElement | null>;
}

export function CopyMenu({ of, newest, shown, scroller }: Props) {
  return (
    <Popover name="Copy" button={<Icon name="copy" />} icon kind="quiet" align="end">
      {(close) => {
        const box = scroller.current;
        const selection = box === null ? null : selectedText(box);
        const copy = (text: string, what: string) => {
          void copyToClipboard(text, what);
          close();
        };
        return (
          <div className={styles.menu}>
            <Button
              kind="quiet"
              disabled={selection === null ? "Nothing is selected in the log." : null}
              onClick={() => copy(selection ?? "", "the selection")}
            >
              Selection
            </Button>
            <Button
              kind="quiet"
              disabled={box === null ? "There is nothing to copy." : null}
              onClick={() => copy(visibleText(shown, box?.clientHeight ?? 0), "the visible lines")}
            >
              Visible lines
            </Button>
            <Button
              kind="quiet"
              onClick={() =>
                copy(logsCommand(of.batchId, of.taskId, of.step, of.attempt, newest), "the command")
              }
            >
              Command: plait logs
            </Button>
          </div>
        );
      }}
    </Popover>
  );
}

/** All visible lines in full. */
function visibleText(shown: TranscriptWindow, height: number): string {
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

/** The selected text with its original lines: wrapped rows are joined. */
export function selectedText(container: HTMLElement): string | null {
  const selection = window.getSelection();
  if (selection === null || selection.isCollapsed || !container.contains(selection.anchorNode)) return null;
  const rows = [...selection.getRangeAt(0).cloneContents().querySelectorAll<HTMLElement>("[data-row]")];
  if (rows.length === 0) return selection.toString();
  return rows
    .map((row, n) => row.textContent + (row.dataset.row === "on" || n === rows.length - 1 ? "" : "\n"))
    .join("");
}

/** The equivalent shell command. */
function logsCommand(
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
