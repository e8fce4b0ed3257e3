/* A status as shape, colour and text: colour never carries meaning alone. */

import type { BatchStatus, TaskStatus } from "../api/types";
import { COLUMN_NAMES, type Column } from "../model/columns";
import { spellOutBidi } from "../model/format";
import styles from "./Status.module.css";

type StatusShape = Column | "partial" | "stopped";

const SHAPES: Record<StatusShape, string> = {
  todo: "M8 2.500a5.500 5.500 0 100 11 5.500 5.500 0 000-11z",
  waiting: "M8 2.500a5.500 5.500 0 100 11 5.500 5.500 0 000-11zM8 5.500V8l2 1.500",
  running: "M8 2.500a5.500 5.500 0 100 11 5.500 5.500 0 000-11zM6.700 5.700v4.600L10.500 8z",
  asking: "M8 2.500a5.500 5.500 0 100 11 5.500 5.500 0 000-11zM8 5.200v3.300M8 10.700h.01",
  review:
    "M8 2.500a5.500 5.500 0 100 11 5.500 5.500 0 000-11zM5.500 8a2.700 2.700 0 015 0 2.700 2.700 0 01-5 0z",
  done: "M8 2.500a5.500 5.500 0 100 11 5.500 5.500 0 000-11zM5.500 8.200l1.800 1.800 3.200-3.700",
  partial: "M8 2.500a5.500 5.500 0 100 11 5.500 5.500 0 000-11zM8 2.500v11",
  failed: "M8 2.500a5.500 5.500 0 100 11 5.500 5.500 0 000-11zM6 6l4 4M10 6l-4 4",
  stopped: "M8 2.500a5.500 5.500 0 100 11 5.500 5.500 0 000-11zM5.500 8h5",
};

const TASK_SHAPES: Record<TaskStatus, StatusShape> = {
  queued: "waiting",
  waiting: "waiting",
  running: "running",
  verifying: "running",
  merging: "running",
  done: "done",
  failed: "failed",
  timed_out: "failed",
  blocked: "failed",
  skipped: "stopped",
  conflicted: "failed",
  cancelled: "stopped",
  interrupted: "stopped",
};

const BATCH_SHAPES: Record<BatchStatus, StatusShape> = {
  pending: "waiting",
  running: "running",
  paused: "asking",
  merging: "running",
  completed: "done",
  partial: "partial",
  failed: "failed",
  cancelled: "stopped",
};

/** `timed out`, as people say it. */
export function statusText(status: TaskStatus | BatchStatus): string {
  return status.replaceAll("_", " ");
}

/** The name of its colour token, for drawings that also show its label. */
export function taskTone(status: TaskStatus): Column {
  const shape = TASK_SHAPES[status];
  return shape === "stopped" || shape === "partial" ? "todo" : shape;
}

export function ColumnIcon({ column }: { column: Column }) {
  return <StatusIcon shape={column} label={COLUMN_NAMES[column]} />;
}

export function TaskStatusIcon({ status }: { status: TaskStatus }) {
  return <StatusIcon shape={TASK_SHAPES[status]} label={statusText(status)} />;
}

export function BatchStatusIcon({ status }: { status: BatchStatus }) {
  return <StatusIcon shape={BATCH_SHAPES[status]} label={statusText(status)} />;
}

/** The shape with the word beside it. */
export function TaskStatusBadge({ status }: { status: TaskStatus }) {
  return <Badge shape={TASK_SHAPES[status]} text={statusText(status)} />;
}

export function BatchStatusBadge({ status }: { status: BatchStatus }) {
  return <Badge shape={BATCH_SHAPES[status]} text={statusText(status)} />;
}

function Badge({ shape, text }: { shape: StatusShape; text: string }) {
  return (
    <span className={styles.badge} data-shape={shape}>
      <ShapeSvg shape={shape} />
      <span className={styles.text}>{text}</span>
    </span>
  );
}

function StatusIcon({ shape, label }: { shape: StatusShape; label: string }) {
  return (
    <span className={styles.mark} data-shape={shape} role="img" aria-label={label} title={label}>
      <ShapeSvg shape={shape} />
    </span>
  );
}

function ShapeSvg({ shape }: { shape: StatusShape }) {
  return (
    <svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path
        d={SHAPES[shape]}
        fill="none"
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}

/** The accessible description of a task: what a sighted user sees first, in that order. */
export function taskLabel(id: string, status: TaskStatus, title: string): string {
  return spellOutBidi([id, statusText(status), ...(title === "" || title === id ? [] : [title])].join(", "));
}
