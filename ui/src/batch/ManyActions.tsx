import { useState } from "react";
import type { Task } from "../api/types";
import { useReadOnlyReason } from "../app/me";
import { pluralize } from "../model/format";
import { Button } from "../parts/Button";
import { confirm } from "../parts/Confirm";
import { Popover } from "../parts/Popover";
import { type BulkResult, runBulkAction } from "./many";
import styles from "./RunBar.module.css";
import { type BulkAction, whyNotRun } from "./runnable";

const ACTIONS: Record<BulkAction, { name: string; confirmText: string | null }> = {
  approve: { name: "Approve", confirmText: null },
  retry: { name: "Retry", confirmText: null },
  cancel: { name: "Cancel", confirmText: "What runs is ended and given up. The tasks can be retried later." },
  drop: {
    name: "Drop",
    confirmText: "The batches go on without them, and what they merged is taken out again.",
  },
};

interface Props {
  tasks: readonly Task[];
  onDone(title: string, outcomes: readonly BulkResult[]): void;
}

/** What else can be asked of the tasks that are selected, each in its own batch. */
export function BulkActions({ tasks, onDone }: Props) {
  const readOnlyReason = useReadOnlyReason();
  const [busy, setBusy] = useState<BulkAction | null>(null);
  const run = async (action: BulkAction, close: () => void) => {
    const { name, confirmText } = ACTIONS[action];
    close();
    const title = `${name} ${pluralize(tasks.length, "task")}`;
    if (
      confirmText !== null &&
      !(await confirm({ title: `${title}?`, text: confirmText, action: title, danger: true }))
    )
      return;
    setBusy(action);
    onDone(title, await runBulkAction(action, tasks));
    setBusy(null);
  };
  return (
    <Popover name="More actions" button="More" side="up" kind="quiet">
      {(close) => (
        <ul className={styles.actions}>
          {(Object.keys(ACTIONS) as BulkAction[]).map((action) => (
            <li key={action}>
              <Button
                kind="quiet"
                disabled={readOnlyReason ?? whyNotRun(action, tasks)}
                busy={busy === action}
                onClick={() => void run(action, close)}
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
