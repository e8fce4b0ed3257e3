import { useState } from "react";
import type { Task } from "../api/types";
import { useMayNot } from "../app/me";
import { count } from "../model/format";
import { Button } from "../parts/Button";
import { confirm } from "../parts/Confirm";
import { Popover } from "../parts/Popover";
import { askMany, type Outcome } from "./many";
import styles from "./RunBar.module.css";
import { type Many, whyNotAsk } from "./runnable";

const ACTIONS: Record<Many, { name: string; asks: string | null }> = {
  approve: { name: "Approve", asks: null },
  retry: { name: "Retry", asks: null },
  cancel: { name: "Cancel", asks: "What runs is ended and given up. The tasks can be retried later." },
  drop: { name: "Drop", asks: "The batches go on without them, and what they merged is taken out again." },
};

interface Props {
  tasks: readonly Task[];
  onAsked(title: string, outcomes: readonly Outcome[]): void;
}

/** What else can be asked of the tasks that are selected, each in its own batch. */
export function ManyActions({ tasks, onAsked }: Props) {
  const mayNot = useMayNot();
  const [busy, setBusy] = useState<Many | null>(null);
  const ask = async (action: Many, close: () => void) => {
    const { name, asks } = ACTIONS[action];
    close();
    const title = `${name} ${count(tasks.length, "task")}`;
    if (asks !== null && !(await confirm({ title: `${title}?`, text: asks, action: title, danger: true })))
      return;
    setBusy(action);
    onAsked(title, await askMany(action, tasks));
    setBusy(null);
  };
  return (
    <Popover name="More actions" button="More" side="up" kind="quiet">
      {(close) => (
        <ul className={styles.actions}>
          {(Object.keys(ACTIONS) as Many[]).map((action) => (
            <li key={action}>
              <Button
                kind="quiet"
                disabled={mayNot ?? whyNotAsk(action, tasks)}
                busy={busy === action}
                onClick={() => void ask(action, close)}
              >
                {ACTIONS[action].name}
              </Button>
            </li>
          ))}
        </ul>
      )}
    </Popover>
  );
}
