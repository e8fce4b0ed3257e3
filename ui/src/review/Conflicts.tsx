import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, told } from "../api/client";
import { steerTask } from "../api/steer";
import type { BatchTask } from "../api/types";
import { useOpenTask } from "../app/address";
import { useMayNot } from "../app/me";
import { count } from "../model/format";
import { Button } from "../parts/Button";
import { confirm } from "../parts/Confirm";
import { Failure, Loading } from "../parts/Empty";
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
          <Conflicted key={task.taskId} batchId={batchId} task={task} open={tasks.length === 1} />
        ))}
      </ul>
    </Section>
  );
}

function Conflicted({ batchId, task, open: first }: { batchId: string; task: BatchTask; open: boolean }) {
  const [open, setOpen] = useState(first);
  const [busy, setBusy] = useState<"retry" | "drop" | null>(null);
  const [, openTask] = useOpenTask();
  const mayNot = useMayNot();
  const steer = async (action: "retry" | "drop") => {
    if (action === "drop" && !(await confirm(givingUp(task.taskId)))) return;
    setBusy(action);
    await steerTask(batchId, task.taskId, action);
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
          disabled={mayNot}
          onClick={() => void steer("retry")}
        >
          Retry on the branch as it is
        </Button>
        <Button
          kind="danger"
          label={`Drop ${task.taskId}`}
          busy={busy === "drop"}
          disabled={mayNot}
          onClick={() => void steer("drop")}
        >
          Drop
        </Button>
      </div>
      {open && <Sides batchId={batchId} taskId={task.taskId} attempt={task.attempt} />}
    </li>
  );
}

/** They stay as they are: an event about the task may mean that it is in conflict no more. */
function Sides({ batchId, taskId, attempt }: { batchId: string; taskId: string; attempt: number }) {
  const { data, error, refetch } = useQuery({
    queryKey: ["conflict", batchId, taskId, attempt],
    queryFn: () =>
      told(
        api.GET("/api/batches/{batch_id}/tasks/{task_id}/conflict", {
          params: { path: { batch_id: batchId, task_id: taskId } },
        }),
      ),
  });
  if (data === undefined)
    return error === null ? (
      <Loading what="Reading both sides" />
    ) : (
      <Failure error={error} again={() => void refetch()} />
    );
  return (
    <>
      {data.files.map((file) => (
        <ConflictFile key={file.path} taskId={taskId} file={file} />
      ))}
      {data.more > 0 && <p className={styles.more}>In conflict too: {count(data.more, "more file")}.</p>}
    </>
  );
}

function givingUp(taskId: string) {
  return {
    title: `Drop ${taskId}`,
    text: "The batch goes on without it, and what needs it is blocked. Its own branch is kept, and a retry does it again.",
    action: "Drop it",
    danger: true,
  };
}
