import { useState } from "react";
import { sendTaskAction } from "../api/steer";
import type { TaskAction } from "../api/types";
import { useReadOnlyReason } from "../app/me";
import { useCommands } from "../commands/commands";
import { openEditor } from "../editing/editor";
import { Button } from "../parts/Button";
import { confirm } from "../parts/Confirm";
import { Icon } from "../parts/Icon";
import styles from "./Actions.module.css";
import { disabledReasons } from "./can";
import { RetryMenu } from "./RetryMenu";
import type { RunInfo, RunRef } from "./subject";
import type { SelectedTask } from "./useSubject";
import { FeedbackForm } from "./Words";

type SendAction = (action: TaskAction, body?: { agent?: string; text?: string }) => Promise<boolean>;

/** What can be asked of the task. What was pressed is busy until it is answered. */
export function TaskActions({ selected }: { selected: SelectedTask }) {
  const { run, info } = selected;
  if (run === null || info === undefined) return <SourceActions selected={selected} />;
  return <RunActions selected={selected} run={run} known={info} />;
}

function SourceActions({ selected: { task } }: { selected: SelectedTask }) {
  const readOnlyReason = useReadOnlyReason();
  if (task === undefined) return null;
  const why =
    readOnlyReason ?? (task.editable ? null : (task.notEditable ?? "Its source can't be edited here."));
  return (
    <div className={styles.actions}>
      <Button disabled={why} onClick={() => openEditor(task.id)}>
        <Icon name="edit" />
        Edit
      </Button>
    </div>
  );
}

function RunActions({ selected, run, known }: { selected: SelectedTask; run: RunRef; known: RunInfo }) {
  const [busy, setBusy] = useState<TaskAction | null>(null);
  const [feedbackOpen, setFeedbackOpen] = useState(false);
  const readOnlyReason = useReadOnlyReason();
  const allowed = disabledReasons(known, selected.explanation.data, selected.inBatch.data?.batch);
  const disabledReason = (action: TaskAction) => readOnlyReason ?? allowed[action];
  const isAsking = known.waiting === "answer";
  const send: SendAction = async (action, body = {}) => {
    setBusy(action);
    const granted = await sendTaskAction(run.batchId, run.taskId, action, body);
    setBusy(null);
    if (granted) void selected.explanation.refetch();
    return granted;
  };
  const drop = async () => {
    if (await confirm(dropConfirmation(run, known))) await send("drop");
  };
  const command = (action: TaskAction, title: string, onRun: () => void) => ({
    id: `task-${action}`,
    title,
    group: "Task",
    disabled: busy === null ? disabledReason(action) : "Another request is being answered.",
    run: onRun,
  });
  useCommands([
    command("cancel", "Cancel the task", () => void send("cancel")),
    command("retry", "Retry the task", () => void send("retry")),
    command("drop", "Drop the task", () => void drop()),
    command("approve", "Approve the task", () => void send("approve")),
    command("feedback", "Tell the agent something", () => setFeedbackOpen(true)),
  ]);
  const buttonProps = (action: TaskAction) => ({ disabled: disabledReason(action), busy: busy === action });
  return (
    <>
      <div className={styles.actions} role="toolbar" aria-label="What to do with it">
        {selected.inBatch.data?.batch.mode === "queue" && (
          <Button
            kind={disabledReason("approve") === null ? "primary" : "plain"}
            {...buttonProps("approve")}
            onClick={() => void send("approve")}
          >
            Approve
          </Button>
        )}
        <Button {...buttonProps("cancel")} onClick={() => void send("cancel")}>
          Cancel
        </Button>
        <span className={styles.pair}>
          <Button {...buttonProps("retry")} onClick={() => void send("retry")}>
            Retry
          </Button>
          <RetryMenu
            disabled={disabledReason("retry")}
            lastAgent={known.agent}
            retry={(agent) => void send("retry", { agent })}
          />
        </span>
        <Button kind="danger" {...buttonProps("drop")} onClick={() => void drop()}>
          Drop
        </Button>
        {!isAsking && (
          <Button
            disabled={disabledReason("feedback")}
            aria-expanded={feedbackOpen}
            onClick={() => setFeedbackOpen(!feedbackOpen)}
          >
            Tell the agent
          </Button>
        )}
        {selected.task?.editable && hasEndedRun(known) && (
          <Button
            kind="quiet"
            disabled={readOnlyReason}
            onClick={() => openEditor(selected.task?.id ?? null)}
          >
            <Icon name="edit" />
            Edit
          </Button>
        )}
      </div>
      {(isAsking || feedbackOpen) && (
        <FeedbackForm
          run={run}
          question={isAsking ? getQuestion(selected, known) : null}
          busy={busy === "feedback"}
          disabled={disabledReason("feedback")}
          close={isAsking ? null : () => setFeedbackOpen(false)}
          send={async (text) => {
            const sent = await send("feedback", { text });
            if (sent) setFeedbackOpen(false);
            return sent;
          }}
        />
      )}
    </>
  );
}

/** What is explained may be older than the question. */
function getQuestion({ explanation: { data } }: SelectedTask, known: RunInfo): string {
  return data?.waiting === "answer" ? data.reason : known.reason;
}

/** Nobody is at it: what its file says counts for the next run. */
function hasEndedRun({ completedAt }: RunInfo): boolean {
  return completedAt !== null;
}

function dropConfirmation({ taskId }: RunRef, { status, commit }: RunInfo) {
  const merged = status === "done" && commit !== null;
  const first = merged
    ? "The batch branch is made anew without its change."
    : ["running", "verifying", "merging"].includes(status)
      ? "Its attempt is ended, and nothing of it is merged."
      : "The batch goes on without it.";
  return {
    title: `Drop ${taskId}?`,
    text: `${first} What needs it can't be done then. A retry takes it up again.`,
    action: "Drop",
    danger: true,
  };
}
