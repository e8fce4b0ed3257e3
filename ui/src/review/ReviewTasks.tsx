/* The tasks of a review: merged, pending and unmerged ones. */

import { lazy, Suspense, useEffect, useRef, useState } from "react";
import { sendTaskAction } from "../api/actions";
import type { Batch, BatchTask, MergedChanges, Timeline } from "../api/types";
import { useReadOnlyReason } from "../app/access";
import { useOpenTask } from "../app/routes";
import { Button } from "../components/Button";
import { confirm } from "../components/ConfirmDialog";
import { LoadingState } from "../components/EmptyState";
import { Icon } from "../components/Icon";
import { TaskStatusBadge } from "../components/Status";
import { formatCost, formatDiffstat, pluralize, shortId, spellOutBidi } from "../model/format";
import styles from "./ReviewTasks.module.css";
import { describeTotals, isVerified, suggestReading } from "./reviewGroups";
import { Section } from "./Section";

const DiffView = lazy(() => import("../diff/DiffView"));

interface TaskRowProps {
  batchId: string;
  task: BatchTask;
  /** Whether its last change was verified; `null` if unknown. */
  verified: boolean | null;
  open: boolean;
  onToggle(taskId: string, open: boolean): void;
  /** It can be dropped from the branch; `last`: the branch is empty then. */
  drop: { last: boolean } | null;
}

function TaskRow({ batchId, task, verified, open, onToggle, drop }: TaskRowProps) {
  const row = useRef<HTMLLIElement>(null);
  const [, openTask] = useOpenTask();
  useEffect(() => {
    if (open) row.current?.scrollIntoView({ block: "nearest" });
  }, [open]);
  return (
    <li ref={row} className={styles.task}>
      <div className={styles.row}>
        <button
          type="button"
          className={styles.toggle}
          aria-expanded={open}
          aria-label={`Diff of ${task.taskId}`}
          onClick={() => onToggle(task.taskId, !open)}
        >
          <Icon name="chevron" size={14} />
        </button>
        {drop === null && <TaskStatusBadge status={task.status} />}
        <div className={styles.description}>
          <button
            type="button"
            className={styles.name}
            onClick={() => openTask({ task: task.taskId, batch: batchId })}
          >
            <bdi>{task.taskId}</bdi>
          </button>
          <span className={styles.title} dir="auto">
            {spellOutBidi(drop === null ? task.reason : task.title)}
          </span>
        </div>
        <TaskFacts task={task} verified={verified} />
        {drop !== null && <DropButton batchId={batchId} taskId={task.taskId} last={drop.last} />}
      </div>
      {open && (
        <div className={styles.diff}>
          <Suspense fallback={<LoadingState what="Loading the diff" />}>
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
    title: `Drop ${taskId}?`,
    text: last
      ? "Its change is removed from the branch, which is empty then. You can retry it."
      : "The branch is rebuilt without its change. Tasks that need it are blocked, and later changes that depend on it conflict. You can retry it.",
    action: "Drop and rebuild",
    danger: true,
  };
}

interface MergedProps {
  batch: Batch;
  tasks: readonly BatchTask[];
  pending: readonly BatchTask[];
  timeline: Timeline | undefined;
  changes: MergedChanges | undefined;
  /** The tasks whose diff is expanded. */
  open: ReadonlySet<string>;
  onOpen(taskId: string, open: boolean): void;
}

/** The merged tasks, in order. */
export function MergedTasks({ batch, tasks, pending, timeline, changes, open, onOpen }: MergedProps) {
  const timelines = new Map(timeline?.tasks.map((taskTimeline) => [taskTimeline.taskId, taskTimeline]));
  const pendingText = pending.length === 0 ? "" : `${pluralize(pending.length, "task")} pending`;
  const totals = tasks.length === 0 ? "" : describeTotals(tasks, changes?.files);
  return (
    <Section title="Merged" aside={[totals, pendingText].filter(Boolean).join(" · ")}>
      {tasks.length === 0 ? (
        <p className={styles.empty}>
          {batch.branch === null ? "This batch works in place: it has no branch." : "Nothing merged yet."}
        </p>
      ) : (
        <ol className={styles.list} aria-label="Merged tasks, in order">
          {tasks.map((task) => (
            <TaskRow
              key={task.taskId}
              batchId={batch.id}
              task={task}
              verified={isVerified(timelines.get(task.taskId))}
              open={open.has(task.taskId)}
              onToggle={onOpen}
              drop={{ last: tasks.length === 1 }}
            />
          ))}
        </ol>
      )}
    </Section>
  );
}

/** Where to begin, and why. */
export function ReadFirst({
  tasks,
  timeline,
  changes,
  onOpen,
}: Pick<MergedProps, "tasks" | "timeline" | "changes"> & { onOpen(taskId: string, open: boolean): void }) {
  const suggestions = suggestReading(tasks, timeline, changes);
  if (suggestions.length === 0) return null;
  const byId = new Map(tasks.map((task) => [task.taskId, task]));
  return (
    <Section title="Read first">
      <ul>
        {suggestions.map(({ taskId, reasons }) => {
          const { diffstat = null, title = taskId } = byId.get(taskId) ?? {};
          return (
            <li key={taskId} className={styles.unmergedTask}>
              <TaskName taskId={taskId} title={title} onClick={() => onOpen(taskId, true)} />
              <span className={styles.reason}>{reasons.join(", ")}</span>
              {diffstat !== null && <span className={styles.facts}>{formatDiffstat(diffstat)}</span>}
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

function TaskName({ taskId, title, onClick }: { taskId: string; title: string; onClick(): void }) {
  return (
    <>
      <button type="button" className={styles.unmergedName} onClick={onClick}>
        <bdi>{taskId}</bdi>
      </button>
      {title !== taskId && (
        <span className={styles.unmergedTitle} dir="auto">
          {spellOutBidi(title)}
        </span>
      )}
    </>
  );
}

/** Started tasks that are not merged yet. */
export function PendingTasks({
  batchId,
  tasks,
  open,
  onOpen,
}: Pick<MergedProps, "tasks" | "open" | "onOpen"> & { batchId: string }) {
  const started = tasks.filter(({ attempt }) => attempt > 0);
  if (started.length === 0) return null;
  return (
    <Section title="Pending">
      <ul aria-label="Pending tasks">
        {started.map((task) => (
          <TaskRow
            key={task.taskId}
            batchId={batchId}
            task={task}
            verified={null}
            open={open.has(task.taskId)}
            onToggle={onOpen}
            drop={null}
          />
        ))}
      </ul>
    </Section>
  );
}

/** Ended tasks that are not on the branch, each with its reason. */
export function Unmerged({ batchId, tasks }: { batchId: string; tasks: readonly BatchTask[] }) {
  const [, openTask] = useOpenTask();
  if (tasks.length === 0) return null;
  return (
    <details className={styles.unmerged} open>
      <summary>{pluralize(tasks.length, "task")} not merged</summary>
      <ul>
        {tasks.map((task) => (
          <li key={task.taskId} className={styles.unmergedTask}>
            <span className={styles.status}>
              <TaskStatusBadge status={task.status} />
            </span>
            <TaskName {...task} onClick={() => openTask({ task: task.taskId, batch: batchId })} />
            <span className={styles.reason} title={spellOutBidi(task.reason)} dir="auto">
              {spellOutBidi(task.short || task.reason)}
            </span>
          </li>
        ))}
      </ul>
    </details>
  );
}
