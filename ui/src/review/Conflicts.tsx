/* Merge conflicts of a batch with both sides of each file, and predicted conflicts. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { sendTaskAction } from "../api/actions";
import { api, unwrap } from "../api/client";
import type { components } from "../api/schema";
import type { BatchTask } from "../api/types";
import { useReadOnlyReason } from "../app/access";
import { useOpenTask } from "../app/routes";
import { Button } from "../components/Button";
import { confirm } from "../components/ConfirmDialog";
import { ErrorState, LoadingState } from "../components/EmptyState";
import { escapeSpecial, segmentLine } from "../diff/lineSegments";
import { pluralize } from "../model/format";
import styles from "./Conflicts.module.css";
import { collapseContext, parseConflicts, type VisiblePart } from "./conflictMarkers";
import { Section } from "./Section";

type File = components["schemas"]["ConflictFile"];
const MAX_LINES = 400; // lines of one side

function ConflictFile({ taskId, file }: { taskId: string; file: File }) {
  const [showBase, setShowBase] = useState(false);
  const parts = file.merged === null ? null : collapseContext(parseConflicts(file.merged));
  const hasConflict = parts?.some(({ kind }) => kind === "conflict") ?? false;
  const hasBase = parts?.some((part) => part.kind === "conflict" && part.base !== null) ?? false;
  const changedBy = file.touchedBy.length === 0 ? "" : `, last changed by ${file.touchedBy.join(", ")}`;
  const names = { ours: `On the batch branch${changedBy}`, base: "Base", theirs: `In ${taskId}` };
  return (
    <section className={styles.file} aria-label={`Conflict in ${escapeSpecial(file.path)}`}>
      <header className={styles.fileHeader}>
        <h3 className={styles.path}>
          <bdi>{escapeSpecial(file.path)}</bdi>
        </h3>
        <span className={styles.kind}>{file.kind}</span>
        {file.base !== null && (
          <Button kind="quiet" aria-pressed={showBase} onClick={() => setShowBase(!showBase)}>
            Show base
          </Button>
        )}
      </header>
      {file.binary ? (
        <p className={styles.note}>Binary file not shown. {file.said}</p>
      ) : parts !== null && hasConflict ? (
        <>
          {parts.map((part, place) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts of a text have no other key, and never move
            <ConflictPart key={place} part={part} names={names} showBase={showBase && hasBase} />
          ))}
          {showBase && !hasBase && <SidePane name={names.base} lines={splitSide(file, "base")} />}
        </>
      ) : (
        <>
          <p className={styles.note}>{file.said}</p>
          <div className={styles.sides}>
            <SidePane name={names.ours} lines={splitSide(file, "ours")} cut={file.cut.includes("ours")} />
            {showBase && (
              <SidePane name={names.base} lines={splitSide(file, "base")} cut={file.cut.includes("base")} />
            )}
            <SidePane
              name={names.theirs}
              lines={splitSide(file, "theirs")}
              cut={file.cut.includes("theirs")}
            />
          </div>
        </>
      )}
    </section>
  );
}

interface PartProps {
  part: VisiblePart;
  names: { ours: string; base: string; theirs: string };
  showBase: boolean;
}

function ConflictPart({ part, names, showBase }: PartProps) {
  if (part.kind === "gap") return <p className={styles.gap}>{pluralize(part.count, "unchanged line")}</p>;
  if (part.kind === "same") return <CodeLines lines={part.lines} />;
  return (
    <div className={styles.sides}>
      <SidePane name={names.ours} lines={part.ours} />
      {showBase && <SidePane name={names.base} lines={part.base ?? []} />}
      <SidePane name={names.theirs} lines={part.theirs} />
    </div>
  );
}

function SidePane({
  name,
  lines,
  cut = false,
}: {
  name: string;
  lines: readonly string[] | null;
  cut?: boolean;
}) {
  return (
    <figure className={styles.pane}>
      <figcaption>{name}</figcaption>
      {cut ? (
        <p className={styles.note}>Too long to show.</p>
      ) : lines === null ? (
        <p className={styles.note}>The file does not exist.</p>
      ) : lines.length === 0 ? (
        <p className={styles.note}>Empty.</p>
      ) : (
        <CodeLines lines={lines} />
      )}
    </figure>
  );
}

function CodeLines({ lines }: { lines: readonly string[] }) {
  const more = lines.length - MAX_LINES;
  return (
    <pre className={styles.text}>
      {lines.slice(0, MAX_LINES).map((line, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no other key, and never move
        <span key={place} className={styles.codeLine}>
          {segmentLine(line.replace(/\r$/, ""))
            .map(({ text }) => text)
            .join("") || " "}
        </span>
      ))}
      {more > 0 && <span className={styles.gap}>{pluralize(more, "more line")}</span>}
    </pre>
  );
}

function splitSide(file: File, side: "ours" | "base" | "theirs"): string[] | null {
  const text = file[side];
  return text === null ? null : text.replace(/\n$/, "").split("\n");
}

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
          <p className={styles.reason}>{task.reason}</p>
        </div>
        <Button aria-expanded={open} onClick={() => setOpen(!open)}>
          Both sides
        </Button>
        <Button
          label={`Retry on the current branch: ${task.taskId}`}
          busy={busy === "retry"}
          disabled={readOnlyReason}
          onClick={() => void act("retry")}
        >
          Retry on the current branch
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

/** Not refetched: after an event the task may no longer be in conflict. */
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
      <LoadingState what="Loading both sides" />
    ) : (
      <ErrorState error={error} onRetry={() => void refetch()} />
    );
  return (
    <>
      {data.files.map((file) => (
        <ConflictFile key={file.path} taskId={taskId} file={file} />
      ))}
      {data.more > 0 && <p className={styles.more}>{pluralize(data.more, "more file")} in conflict.</p>}
    </>
  );
}

function dropConfirmation(taskId: string) {
  return {
    title: `Drop ${taskId}`,
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
