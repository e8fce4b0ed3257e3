import { useState } from "react";
import { steerTask } from "../api/steer";
import type { TaskAction } from "../api/types";
import { useMayNot } from "../app/me";
import { useCommands } from "../commands/commands";
import { openEditor } from "../editing/editor";
import { Button } from "../parts/Button";
import { confirm } from "../parts/Confirm";
import { Icon } from "../parts/Icon";
import styles from "./Actions.module.css";
import { can } from "./can";
import { RetryMenu } from "./RetryMenu";
import type { Known, RunName } from "./subject";
import type { Subject } from "./useSubject";
import { Words } from "./Words";

type Ask = (action: TaskAction, body?: { agent?: string; text?: string }) => Promise<boolean>;

/** What can be asked of the task. What was pressed is busy until it is answered. */
export function Actions({ subject }: { subject: Subject }) {
  const { run, known } = subject;
  if (run === null || known === undefined) return <SourceActions subject={subject} />;
  return <RunActions subject={subject} run={run} known={known} />;
}

function SourceActions({ subject: { task } }: { subject: Subject }) {
  const mayNot = useMayNot();
  if (task === undefined) return null;
  const why = mayNot ?? (task.editable ? null : (task.notEditable ?? "Its source can't be edited here."));
  return (
    <div className={styles.actions}>
      <Button disabled={why} onClick={() => openEditor(task.id)}>
        <Icon name="edit" />
        Edit
      </Button>
    </div>
  );
}

function RunActions({ subject, run, known }: { subject: Subject; run: RunName; known: Known }) {
  const [busy, setBusy] = useState<TaskAction | null>(null);
  const [telling, setTelling] = useState(false);
  const mayNot = useMayNot();
  const may = can(known, subject.explanation.data, subject.inBatch.data?.head);
  const why = (action: TaskAction) => mayNot ?? may[action];
  const asks = known.waiting === "answer";
  const ask: Ask = async (action, body = {}) => {
    setBusy(action);
    const granted = await steerTask(run.batchId, run.taskId, action, body);
    setBusy(null);
    if (granted) void subject.explanation.refetch();
    return granted;
  };
  const drop = async () => {
    if (await confirm(dropping(run, known))) await ask("drop");
  };
  const command = (action: TaskAction, title: string, run_: () => void) => ({
    id: `task-${action}`,
    title,
    group: "Task",
    disabled: busy === null ? why(action) : "Another request is being answered.",
    run: run_,
  });
  useCommands([
    command("cancel", "Cancel the task", () => void ask("cancel")),
    command("retry", "Retry the task", () => void ask("retry")),
    command("drop", "Drop the task", () => void drop()),
    command("approve", "Approve the task", () => void ask("approve")),
    command("feedback", "Tell the agent something", () => setTelling(true)),
  ]);
  const button = (action: TaskAction) => ({ disabled: why(action), busy: busy === action });
  return (
    <>
      <div className={styles.actions} role="toolbar" aria-label="What to do with it">
        {subject.inBatch.data?.head.mode === "queue" && (
          <Button
            kind={why("approve") === null ? "primary" : "plain"}
            {...button("approve")}
            onClick={() => void ask("approve")}
          >
            Approve
          </Button>
        )}
        <Button {...button("cancel")} onClick={() => void ask("cancel")}>
          Cancel
        </Button>
        <span className={styles.pair}>
          <Button {...button("retry")} onClick={() => void ask("retry")}>
            Retry
          </Button>
          <RetryMenu
            disabled={why("retry")}
            now={known.agent}
            retry={(agent) => void ask("retry", { agent })}
          />
        </span>
        <Button kind="danger" {...button("drop")} onClick={() => void drop()}>
          Drop
        </Button>
        {!asks && (
          <Button disabled={why("feedback")} aria-expanded={telling} onClick={() => setTelling(!telling)}>
            Tell the agent
          </Button>
        )}
        {subject.task?.editable && hasRun(known) && (
          <Button kind="quiet" disabled={mayNot} onClick={() => openEditor(subject.task?.id ?? null)}>
            <Icon name="edit" />
            Edit
          </Button>
        )}
      </div>
      {(asks || telling) && (
        <Words
          run={run}
          question={asks ? questionOf(subject, known) : null}
          busy={busy === "feedback"}
          disabled={why("feedback")}
          close={asks ? null : () => setTelling(false)}
          send={async (text) => {
            const told = await ask("feedback", { text });
            if (told) setTelling(false);
            return told;
          }}
        />
      )}
    </>
  );
}

/** What is explained may be older than the question. */
function questionOf({ explanation: { data } }: Subject, known: Known): string {
  return data?.waiting === "answer" ? data.reason : known.reason;
}

/** Nobody is at it: what its file says counts for the next run. */
function hasRun({ completedAt }: Known): boolean {
  return completedAt !== null;
}

function dropping({ taskId }: RunName, { status, commit }: Known) {
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
