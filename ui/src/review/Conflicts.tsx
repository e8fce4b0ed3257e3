import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, unwrap } from "../api/client";
import { sendTaskAction } from "../api/steer";
import type { BatchTask } from "../api/types";
import { useOpenTask } from "../app/address";
import { useReadOnlyReason } from "../app/me";
import { pluralize } from "../model/format";
import { Button } from "../parts/Button";
import { confirm } from "../parts/Confirm";
import { ErrorState, LoadingState } from "../parts/Empty";
import { ConflictFile } from "./ConflictFile";
import styles from "./Conflicts.module.css";
import { Section } from "./Section";

/** Changes that git could not put together with what was merged before, with both sides of each. */
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
      <div className={styles.line}>
        <div className={styles.words}>
          <button
            type="button"
            className={styles.name}
            onClick={() => openTask({ task: task.taskId, batch: batchId })}
          >
            <bdi>{task.taskId}</bdi>
          </button>
          <p className={styles.reason}>{task.reason}</p>
        </div>
        <Button aria-expanded={open} onClick={() => setOpen(!open)}>
          Both sides
        </Button>
        <Button
          label={`Retry on the branch as it is: ${task.taskId}`}
          busy={busy === "retry"}
          disabled={readOnlyReason}
          onClick={() => void act("retry")}
        >
          Retry on the branch as it is
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
      {open && <ConflictSides batchId={batchId} taskId={task.taskId} attempt={task.attempt} />}
    </li>
  );
}

/** They stay as they are: an event about the task may mean that it is in conflict no more. */
function ConflictSides({ batchId, taskId, attempt }: { batchId: string; taskId: string; attempt: number }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["conflict", batchId, taskId, attempt],
    queryFn: () =>
      unwrap(
        api.GET("/api/batches/{batch_id}/tasks/{task_id}/conflict", {
          params: { path: { batch_id: batchId, task_id: taskId } },
        }),
      ),
  });
  if (data === undefined)
    return error === null ? (
      <LoadingState what="Reading both sides" />
    ) : (
      <ErrorState error={error} onRetry={() => void refetch()} />
    );
  return (
    <>
      {data.files.map((file) => (
        <ConflictFile key={file.path} taskId={taskId} file={file} />
      ))}
      {data.more > 0 && <p className={styles.more}>In conflict too: {pluralize(data.more, "more file")}.</p>}
    </>
  );
}

function dropConfirmation(taskId: string) {
  return {
    title: `Drop ${taskId}`,
    text: "The batch goes on without it, and what needs it is blocked. Its own branch is kept, and a retry does it again.",
    action: "Drop it",
    danger: true,
  };
}
