import type { RefObject } from "react";
import { Button } from "../../parts/Button";
import { copy } from "../../parts/clipboard";
import { Icon } from "../../parts/Icon";
import { Popover } from "../../parts/Popover";
import { command, selected, visible } from "./copying";
import type { Attempt } from "./reads";
import styles from "./Transcript.module.css";
import type { Window } from "./window";

interface Props {
  of: Attempt;
  newest: boolean;
  shown: Window;
  scroller: RefObject<HTMLDivElement | null>;
}

export function CopyMenu({ of, newest, shown, scroller }: Props) {
  return (
    <Popover name="Copy" button={<Icon name="copy" />} icon kind="quiet" align="end">
      {(close) => {
        const box = scroller.current;
        const chosen = box === null ? null : selected(box);
        const take = (text: string, what: string) => {
          void copy(text, what);
          close();
        };
        return (
          <div className={styles.menu}>
            <Button
              kind="quiet"
              disabled={chosen === null ? "Nothing is selected in the log." : null}
              onClick={() => take(chosen ?? "", "the selection")}
            >
              Selection
            </Button>
            <Button
              kind="quiet"
              disabled={box === null ? "There is nothing to copy." : null}
              onClick={() => take(visible(shown, box?.clientHeight ?? 0), "the lines that are seen")}
            >
              The lines that are seen
            </Button>
            <Button
              kind="quiet"
              onClick={() => take(command(of.batchId, of.taskId, of.step, of.attempt, newest), "the command")}
            >
              The command: plait logs
            </Button>
          </div>
        );
      }}
    </Popover>
  );
}
