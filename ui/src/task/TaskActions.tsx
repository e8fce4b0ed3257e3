import { useId, useState } from "react";
import { cancelTask, sendTaskAction } from "../api/actions";
import { useAgents } from "../api/queries";
import type { AgentInfo, TaskAction } from "../api/types";
import { useReadOnlyReason } from "../app/access";
import { routes } from "../app/routes";
import { ActionButton } from "../batch/BatchControls";
import { planRun } from "../batch/runOptions";
import { actionsOf, retryTasks } from "../board/cardCommands";
import { truncate } from "../board/cardText";
import { useCommands } from "../commands/commands";
import { Button, ButtonLink } from "../components/Button";
import { confirm } from "../components/ConfirmDialog";
import { ErrorState, LoadingState } from "../components/EmptyState";
import { Icon } from "../components/Icon";
import { Popover } from "../components/Popover";
import { openEditor } from "../editing/editorState";
import { retryLabel } from "../model/cardActions";
import { isAtWork } from "../model/columns";
import { spellOutBidi } from "../model/format";
import { useFeedbackDraft } from "../store/feedbackDraft";
import { disabledReasons } from "./allowedActions";
import type { RunInfo, RunRef, SelectedTask } from "./selectedTask";
import styles from "./TaskActions.module.css";

type SendAction = (action: TaskAction, body?: { agent?: string; text?: string }) => Promise<boolean>;

/** Actions on the task. A pressed button is busy until the server responds. */
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
    <div className={styles.actions} role="toolbar" aria-label="Task actions">
      {actionsOf(task).run && (
        <Button kind="primary" disabled={readOnlyReason} onClick={() => planRun([task.id])}>
          <Icon name="play" />
          Run
        </Button>
      )}
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
  const { blockers } = selected;
  const isAsking = known.waiting === "answer";
  const send: SendAction = async (action, body = {}) => {
    setBusy(action);
    const granted =
      action === "cancel"
        ? await cancelTask(run.batchId, run.taskId, known.status)
        : await sendTaskAction(run.batchId, run.taskId, action, body);
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
    disabled: busy === null ? disabledReason(action) : "Another request is in progress.",
    run: onRun,
  });
  useCommands([
    command("cancel", "Cancel the task", () => void send("cancel")),
    {
      ...command("retry", "Retry the task", () => void send("retry")),
      ...(blockers.length > 0 && {
        title: "Retry what blocks the task",
        disabled: readOnlyReason,
        run: () => void retryTasks(blockers),
      }),
    },
    command("recheck", "Verify the finished work again, without an agent", () => void send("recheck")),
    command("drop", "Drop the task", () => void drop()),
    command("approve", "Approve the task", () => void send("approve")),
    command("feedback", "Tell the task's agent", () => setFeedbackOpen(true)),
  ]);
  const buttonProps = (action: TaskAction) => ({ disabled: disabledReason(action), busy: busy === action });
  return (
    <>
      <div className={styles.actions} role="toolbar" aria-label="Task actions">
        {selected.inBatch.data?.batch.mode === "queue" && (
          <Button
            kind={disabledReason("approve") === null ? "primary" : "plain"}
            {...buttonProps("approve")}
            onClick={() => void send("approve")}
          >
            Approve
          </Button>
        )}
        {known.status === "conflicted" && (
          <ButtonLink kind="primary" href={routes.review(run.batchId)}>
            Resolve
          </ButtonLink>
        )}
        {!hasEndedRun(known) && (
          <Button {...buttonProps("cancel")} onClick={() => void send("cancel")}>
            Cancel
          </Button>
        )}
        {selected.task !== undefined && blockers.length > 0 ? (
          <ActionButton run={() => retryTasks(blockers)}>
            {truncate(retryLabel(selected.task, blockers))}
          </ActionButton>
        ) : (
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
        )}
        {(known.category === "verify" || known.category === "gate") && (
          <Button {...buttonProps("recheck")} onClick={() => void send("recheck")}>
            Recheck
          </Button>
        )}
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
          question={isAsking ? known.short || known.reason : null}
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

/** The run is over: edits apply to the next one. */
function hasEndedRun({ completedAt }: RunInfo): boolean {
  return completedAt !== null;
}

function dropConfirmation({ taskId }: RunRef, { status, commit }: RunInfo) {
  const merged = status === "done" && commit !== null;
  const first = merged
    ? "The batch branch is rebuilt without its change."
    : isAtWork(status)
      ? "Its attempt is stopped, and nothing of it is merged."
      : "The batch continues without it.";
  return {
    title: `Drop ${taskId}?`,
    text: `${first} Tasks that need it are blocked. You can retry it later.`,
    action: "Drop",
    danger: true,
  };
}

interface FeedbackFormProps {
  run: RunRef;
  /** The agent's question; `null` for feedback that starts a new attempt. */
  question: string | null;
  busy: boolean;
  disabled: string | null;
  close: (() => void) | null;
  /** True if it was accepted. */
  send(text: string): Promise<boolean>;
}

function focusOnMount(field: HTMLTextAreaElement | null): void {
  field?.focus();
}

/** Text for the agent: an answer, or feedback for a new attempt. Stored in the browser until it is sent. */
function FeedbackForm({ run, question, busy, disabled, close, send }: FeedbackFormProps) {
  const [text, setText] = useFeedbackDraft(run);
  const id = useId();
  const disabledReason = disabled ?? (text.trim() === "" ? "Write something first." : null);
  const submit = async () => {
    if (disabledReason === null && !busy && (await send(text))) setText("");
  };
  return (
    <section
      className={styles.feedback}
      data-asks={question !== null || undefined}
      aria-label={question === null ? "Feedback" : "Needs you"}
    >
      {question !== null && (
        <div className={styles.question}>
          <h3 className={styles.questionTitle}>
            <Icon name="warning" />
            Needs you
          </h3>
          <p dir="auto">{spellOutBidi(question)}</p>
        </div>
      )}
      <label htmlFor={id}>
        {question === null ? "Feedback for the agent, which starts a new attempt" : "Your answer"}
      </label>
      <textarea
        id={id}
        ref={question === null ? focusOnMount : undefined}
        className={styles.text}
        rows={3}
        value={text}
        dir="auto"
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          void submit();
        }}
      />
      <div className={styles.send}>
        {close !== null && (
          <Button kind="quiet" onClick={close}>
            Not now
          </Button>
        )}
        <Button kind="primary" disabled={disabledReason} busy={busy} onClick={() => void submit()}>
          {question === null ? "Retry with feedback" : "Answer"}
        </Button>
      </div>
    </section>
  );
}

interface Props {
  disabled: string | null;
  /** The agent of the last attempt. */
  lastAgent: string | null;
  retry(agent: string): void;
}

/** Retry with another agent. */
function RetryMenu({ disabled, lastAgent, retry }: Props) {
  return (
    <Popover name="Retry with another agent" icon button={<Icon name="down" />} disabled={disabled}>
      {(close) => (
        <AgentMenu
          lastAgent={lastAgent}
          onSelect={(agent) => {
            close();
            retry(agent);
          }}
        />
      )}
    </Popover>
  );
}

function AgentMenu({ lastAgent, onSelect }: { lastAgent: string | null; onSelect(agent: string): void }) {
  const { data, error, refetch } = useAgents();
  if (data === undefined)
    return error === null ? (
      <LoadingState what="Loading agents" />
    ) : (
      <ErrorState error={error} onRetry={() => void refetch()} />
    );
  const sorted = data.agents.toSorted((one, other) => Number(other.available) - Number(one.available));
  return (
    <>
      <ul className={styles.agents}>
        {sorted.map((agent) => (
          <li key={agent.name}>
            <Button kind="quiet" disabled={whyUnavailable(agent)} onClick={() => onSelect(agent.name)}>
              <span className={styles.agent}>
                <span>{agent.name}</span>
                <span className={styles.note}>{agentNote(agent, lastAgent)}</span>
              </span>
            </Button>
          </li>
        ))}
      </ul>
      {data.permissions && <p className={styles.permissions}>{data.permissions}</p>}
    </>
  );
}

function whyUnavailable({ available, problem, install }: AgentInfo): string | null {
  if (available) return null;
  return problem ?? (install === null ? "Not installed." : `Not installed: ${install}`);
}

function agentNote(agent: AgentInfo, lastAgent: string | null): string {
  const reason = whyUnavailable(agent);
  if (reason !== null) return reason;
  if (agent.login.loggedIn === "no")
    return `Not logged in${agent.login.how === null ? "" : `: ${agent.login.how}`}`;
  return agent.name === lastAgent ? "Used last" : (agent.model ?? "");
}
