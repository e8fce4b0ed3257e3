/* One task of the review: what it came to, its change when it is unfolded, and the way to take it out. */

import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { sendTaskAction } from "../api/steer";
import type { BatchTask } from "../api/types";
import { useOpenTask } from "../app/address";
import { useReadOnlyReason } from "../app/me";
import { formatCost, formatDiffstat, shortId } from "../model/format";
import { Button } from "../parts/Button";
import { confirm } from "../parts/Confirm";
import { LoadingState } from "../parts/Empty";
import { Icon } from "../parts/Icon";
import { TaskStatusBadge } from "../parts/Status";
import styles from "./TaskRow.module.css";

const DiffView = lazy(() => import("../diff/DiffView"));

interface TaskRowProps {
  batchId: string;
  task: BatchTask;
  /** Whether its last change was verified; `null` where there is nothing to say. */
  verified: boolean | null;
  open: boolean;
  onToggle(taskId: string, open: boolean): void;
  /** It can be taken out of the branch; `last`: nothing is left then. */
  drop: { last: boolean } | null;
}

export function TaskRow({ batchId, task, verified, open, onToggle, drop }: TaskRowProps) {
  const row = useRef<HTMLLIElement>(null);
  const [, openTask] = useOpenTask();
  useEffect(() => {
    if (open) row.current?.scrollIntoView({ block: "nearest" });
  }, [open]);
  return (
    <li ref={row} className={styles.task}>
      <div className={styles.line}>
        <button
          type="button"
          className={styles.fold}
          aria-expanded={open}
          aria-label={`What ${task.taskId} changed`}
          onClick={() => onToggle(task.taskId, !open)}
        >
          <Icon name="chevron" size={14} />
        </button>
        {drop === null && <TaskStatusBadge status={task.status} />}
        <div className={styles.words}>
          <button
            type="button"
            className={styles.name}
            onClick={() => openTask({ task: task.taskId, batch: batchId })}
          >
            <bdi>{task.taskId}</bdi>
          </button>
          <span className={styles.title} dir="auto">
            {drop === null ? task.reason : task.title}
          </span>
        </div>
        <TaskFacts task={task} verified={verified} />
        {drop !== null && <DropButton batchId={batchId} taskId={task.taskId} last={drop.last} />}
      </div>
      {open && (
        <div className={styles.diff}>
          <Suspense fallback={<LoadingState what="Reading the change" />}>
            <DiffView batchId={batchId} taskId={task.taskId} />
          </Suspense>
        </div>
      )}
    </li>
  );
}

function DropButton({ batchId, taskId, last }: { batchId: string; taskId: string; last: boolean }) {
  const [busy, setBusy] = useState(false);
  const readOnlyReason = useReadOnlyReason();
  const drop = async () => {
    if (!(await confirm(dropConfirmation(taskId, last)))) return;
    setBusy(true);
    await sendTaskAction(batchId, taskId, "drop");
    setBusy(false);
  };
  return (
    <Button
      kind="quiet"
      label={`Drop ${taskId}`}
      busy={busy}
      disabled={readOnlyReason}
      onClick={() => void drop()}
    >
      Drop
    </Button>
  );
}

function TaskFacts({ task, verified }: { task: BatchTask; verified: boolean | null }) {
  const costText = formatCost(task.cost);
  return (
    <span className={styles.facts}>
      {task.diffstat && <span>{formatDiffstat(task.diffstat)}</span>}
      {verified !== null && <span>{verified ? "verified" : "not verified"}</span>}
      {task.attempt > 1 && <span>{task.attempt} attempts</span>}
      {costText !== "" && <span>{costText}</span>}
      {task.agent && <span>{task.agent}</span>}
      {task.commit && <code>{shortId(task.commit)}</code>}
    </span>
  );
}

function dropConfirmation(taskId: string, last: boolean) {
  return {
    title: `Drop ${taskId}`,
    text: last
      ? "Its change is taken out of the branch, and nothing is left on it. A retry does it again."
      : "The branch is made anew without its change. What needs it is blocked, and a later change that can't do without it conflicts. A retry does it again.",
    action: "Drop and rebuild",
    danger: true,
  };
}
