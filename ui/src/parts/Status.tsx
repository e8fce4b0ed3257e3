/* A status as a shape, a colour and a word: whoever can't tell the colours still can tell them apart. */

import type { BatchStatus, TaskStatus } from "../api/types";
import { COLUMN_NAMES, type Column } from "../model/columns";
import styles from "./Status.module.css";

type Shape = Column | "stopped";

const SHAPES: Record<Shape, string> = {
  todo: "M8 2.500a5.500 5.500 0 100 11 5.500 5.500 0 000-11z",
  waiting: "M8 2.500a5.500 5.500 0 100 11 5.500 5.500 0 000-11zM8 5.500V8l2 1.500",
  running: "M8 2.500a5.500 5.500 0 100 11 5.500 5.500 0 000-11zM6.700 5.700v4.600L10.500 8z",
  asking: "M8 2.500a5.500 5.500 0 100 11 5.500 5.500 0 000-11zM8 5.200v3.300M8 10.700h.01",
  review:
    "M8 2.500a5.500 5.500 0 100 11 5.500 5.500 0 000-11zM5.500 8a2.700 2.700 0 015 0 2.700 2.700 0 01-5 0z",
  done: "M8 2.500a5.500 5.500 0 100 11 5.500 5.500 0 000-11zM5.500 8.200l1.800 1.800 3.200-3.700",
  failed: "M8 2.500a5.500 5.500 0 100 11 5.500 5.500 0 000-11zM6 6l4 4M10 6l-4 4",
  stopped: "M8 2.500a5.500 5.500 0 100 11 5.500 5.500 0 000-11zM5.500 8h5",
};

const OF_TASK: Record<TaskStatus, Shape> = {
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

const OF_BATCH: Record<BatchStatus, Shape> = {
  pending: "waiting",
  running: "running",
  paused: "asking",
  merging: "running",
  completed: "done",
  failed: "failed",
  cancelled: "stopped",
};

/** `timed out`, as people say it. */
export function word(status: TaskStatus | BatchStatus): string {
  return status.replaceAll("_", " ");
}

/** The name of its colour among the tokens, for drawings; a word goes with it. */
export function taskTone(status: TaskStatus): Column {
  const shape = OF_TASK[status];
  return shape === "stopped" ? "todo" : shape;
}

export function ColumnMark({ column }: { column: Column }) {
  return <Mark shape={column} label={COLUMN_NAMES[column]} />;
}

export function TaskMark({ status }: { status: TaskStatus }) {
  return <Mark shape={OF_TASK[status]} label={word(status)} />;
}

export function BatchMark({ status }: { status: BatchStatus }) {
  return <Mark shape={OF_BATCH[status]} label={word(status)} />;
}

/** The shape with the word beside it. */
export function TaskBadge({ status }: { status: TaskStatus }) {
  return <Badge shape={OF_TASK[status]} text={word(status)} />;
}

export function BatchBadge({ status }: { status: BatchStatus }) {
  return <Badge shape={OF_BATCH[status]} text={word(status)} />;
}

function Badge({ shape, text }: { shape: Shape; text: string }) {
  return (
    <span className={styles.badge} data-shape={shape}>
      <Drawn shape={shape} />
      {text}
    </span>
  );
}

function Mark({ shape, label }: { shape: Shape; label: string }) {
  return (
    <span className={styles.mark} data-shape={shape} role="img" aria-label={label} title={label}>
      <Drawn shape={shape} />
    </span>
  );
}

function Drawn({ shape }: { shape: Shape }) {
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
