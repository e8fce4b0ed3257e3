/* Merge conflicts of a batch with both sides of each file, and predicted conflicts. */

import { useState } from "react";
import { sendTaskAction } from "../api/actions";
import type { BatchTask } from "../api/types";
import { useReadOnlyReason } from "../app/access";
import { useOpenTask } from "../app/routes";
import { Button } from "../components/Button";
import { confirm } from "../components/ConfirmDialog";
import { escapeSpecial } from "../diff/lineSegments";
import { spellOutBidi } from "../model/format";
import styles from "./Conflicts.module.css";
import { ResolveForm } from "./ResolveForm";
import { Section } from "./Section";

/** Changes that conflict with earlier merges, with both sides of each file. */
export function Conflicts({ batchId, tasks }: { batchId: string; tasks: readonly BatchTask[] }) {
  if (tasks.length === 0) return null;
  return (
    <Section title={tasks.length === 1 ? "Conflict" : "Conflicts"} aside="not on the branch">
      <ul>
        {tasks.map((task) => (
          <ConflictItem key={task.taskId} batchId={batchId} task={task} open={tasks.length === 1} />
        ))}
      </ul>
    </Section>
  );
}

function ConflictItem({
  batchId,
  task,
  open: initiallyOpen,
}: {
  batchId: string;
  task: BatchTask;
  open: boolean;
}) {
  const [open, setOpen] = useState(initiallyOpen);
  const [busy, setBusy] = useState<"retry" | "drop" | null>(null);
  const [, openTask] = useOpenTask();
  const readOnlyReason = useReadOnlyReason();
  const act = async (action: "retry" | "drop") => {
    if (action === "drop" && !(await confirm(dropConfirmation(task.taskId)))) return;
    setBusy(action);
    await sendTaskAction(batchId, task.taskId, action);
    setBusy(null);
  };
  return (
    <li className={styles.conflict}>
      <div className={styles.row}>
        <div className={styles.description}>
          <button
            type="button"
            className={styles.name}
            onClick={() => openTask({ task: task.taskId, batch: batchId })}
          >
            <bdi>{task.taskId}</bdi>
          </button>
          <p className={styles.reason}>{spellOutBidi(describe(task))}</p>
        </div>
        <Button label={`Resolve ${task.taskId}`} aria-expanded={open} onClick={() => setOpen(!open)}>
          Resolve
        </Button>
        <Button
          label={`Let an agent repair it: ${task.taskId}`}
          title="Retries it on the branch as it is now. The agent is told both sides."
          busy={busy === "retry"}
          disabled={readOnlyReason}
          onClick={() => void act("retry")}
        >
          Let an agent repair it
        </Button>
        <Button
          kind="danger"
          label={`Drop ${task.taskId}`}
          busy={busy === "drop"}
          disabled={readOnlyReason}
          onClick={() => void act("drop")}
        >
          Drop
        </Button>
      </div>
      {open && <ResolveForm batchId={batchId} taskId={task.taskId} />}
    </li>
  );
}

/** Its title, and the files in which it conflicts. */
function describe({ taskId, title, short, reason }: BatchTask): string {
  return [title !== taskId && title, short || reason].filter(Boolean).join(" · ");
}

function dropConfirmation(taskId: string) {
  return {
    title: `Drop ${taskId}?`,
    text: "The batch continues without it, and tasks that need it are blocked. Its branch is kept, and you can retry it.",
    action: "Drop",
    danger: true,
  };
}

/** Predicted conflicts between running tasks; only a warning. */
export function PredictedConflicts({ tasks }: { tasks: readonly BatchTask[] }) {
  const predictions = tasks.flatMap(({ taskId, foreseen }) =>
    foreseen.map(({ taskId: other, files }) => ({ taskId, other, files })),
  );
  if (predictions.length === 0) return null;
  return (
    <ul className={styles.predicted} aria-label="Predicted conflicts">
      {predictions.map(({ taskId, other, files }) => (
        <li key={`${taskId} ${other}`}>
          As things are now, {taskId} would conflict with {other ?? "the batch branch"} in{" "}
          {files.map(escapeSpecial).join(", ")}.
        </li>
      ))}
    </ul>
  );
}
