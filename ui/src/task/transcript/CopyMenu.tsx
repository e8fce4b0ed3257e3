import type { RefObject } from "react";
import { Button } from "../../parts/Button";
import { copyToClipboard } from "../../parts/clipboard";
import { Icon } from "../../parts/Icon";
import { Popover } from "../../parts/Popover";
import { logsCommand, selectedText, visibleText } from "./copying";
import type { AttemptRef } from "./reads";
import styles from "./Transcript.module.css";
import type { TranscriptWindow } from "./window";

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
              onClick={() => copy(visibleText(shown, box?.clientHeight ?? 0), "the lines that are seen")}
            >
              The lines that are seen
            </Button>
            <Button
              kind="quiet"
              onClick={() =>
                copy(logsCommand(of.batchId, of.taskId, of.step, of.attempt, newest), "the command")
              }
            >
              The command: plait logs
            </Button>
          </div>
        );
      }}
    </Popover>
  );
}
