import { lazy, Suspense } from "react";
import { Link } from "wouter";
import { sendBatchAction, sendTaskAction } from "../api/actions";
import { useTaskDetail } from "../api/queries";
import type { Explanation, Task } from "../api/types";
import { routes, useOpenTask } from "../app/routes";
import { ActionButton } from "../batch/BatchControls";
import { Button, ButtonLink } from "../components/Button";
import { ErrorState, LoadingState } from "../components/EmptyState";
import { TaskStatusBadge } from "../components/Status";
import { COLUMN_NAMES, columnOf, hasEnded } from "../model/columns";
import { formatCost, pluralize, shortId, spellOutBidi } from "../model/format";
import { useBoard } from "../store/board";
import styles from "./AboutTab.module.css";
import { ContestTable } from "./ContestTable";
import { Conversation } from "./Conversation";
import { CopyableText, Fact, Facts, Section } from "./Facts";
import { type NextAction, parseNextStep } from "./nextStep";
import type { RunRef, SelectedTask } from "./selectedTask";

const Markdown = lazy(() => import("../components/Markdown"));

/** Its status, and what happened to it. */
export function ConversationTab({ selected }: { selected: SelectedTask }) {
  const { task, run, explanation } = selected;
  if (run === null) return <AboutTab selected={selected} />;
  return (
    <div className={styles.about}>
      <StatusSection selected={selected} />
      {explanation.data?.contest && (
        <ContestTable contest={explanation.data.contest} batchId={explanation.data.batchId} />
      )}
      {explanation.data?.attempts.length === 0 && <NeedsSection task={task} explanation={explanation.data} />}
      <Conversation key={`${run.batchId} ${run.taskId}`} run={run} />
    </div>
  );
}

/** What the task is, and where its result is. */
export function AboutTab({ selected }: { selected: SelectedTask }) {
  const { task, explanation } = selected;
  return (
    <div className={styles.about}>
      {task !== undefined && <DescriptionSection task={task} />}
      {explanation.data?.result && <ResultSection explanation={explanation.data} />}
      <NeedsSection task={task} explanation={explanation.data} />
      <SourceSection selected={selected} explanation={explanation.data} />
    </div>
  );
}

function StatusSection({ selected: { info, explanation, blockers } }: { selected: SelectedTask }) {
  const { data, error } = explanation;
  if (data === undefined && error !== null)
    return <ErrorState error={error} onRetry={() => void explanation.refetch()} />;
  const status = info?.status ?? data?.status;
  const current = data !== undefined && data.status === status;
  const reason = current ? data.reason : info?.reason;
  // Why it ended is told in full by the attempt below; why it waits is not.
  const short = status !== undefined && hasEnded(status) ? info?.short : "";
  return (
    <Section title="Status">
      <p className={styles.status}>
        {status && <TaskStatusBadge status={status} />}
        <span dir="auto">{spellOutBidi(short || reason || "No details.")}</span>
      </p>
      {data === undefined ? (
        <LoadingState what="Loading" />
      ) : (
        <NextStep way={current ? data.way : "Just changed."} run={data} withRetry={blockers.length === 0} />
      )}
    </Section>
  );
}

/** `withRetry`: no button above retries what blocks it. */
function NextStep({ way, run, withRetry }: { way: string; run: RunRef; withRetry: boolean }) {
  const { text, actions: all } = parseNextStep(way, run);
  const actions = all.filter(({ kind, taskId }) => withRetry || kind !== "retry" || taskId === null);
  return (
    <>
      {text !== "" && (
        <p className={styles.nextStep} dir="auto">
          {spellOutBidi(text)}
        </p>
      )}
      {actions.length > 0 && (
        <p className={styles.nextActions}>
          {actions.map((action) => (
            <NextActionButton key={`${action.kind} ${action.taskId}`} action={action} />
          ))}
        </p>
      )}
    </>
  );
}

function NextActionButton({ action: { kind, batchId, taskId } }: { action: NextAction }) {
  const [, openTask] = useOpenTask();
  switch (kind) {
    case "resume":
    case "unpause":
      return (
        <ActionButton run={() => sendBatchAction(batchId, kind)}>
          {kind === "resume" ? "Resume" : "Unpause"} the batch
        </ActionButton>
      );
    case "retry":
      return taskId === null ? (
        <ActionButton run={() => sendBatchAction(batchId, "retry")}>Retry all that failed</ActionButton>
      ) : (
        <ActionButton run={() => sendTaskAction(batchId, taskId, "retry")}>Retry {taskId}</ActionButton>
      );
    case "ship":
      return <ButtonLink href={routes.review(batchId)}>Review and ship</ButtonLink>;
    case "budget":
      return <ButtonLink href={routes.review(batchId)}>Raise the budget</ButtonLink>;
    case "open":
      return (
        <Button onClick={() => taskId !== null && openTask({ task: taskId, batch: batchId })}>
          Open {taskId}
        </Button>
      );
  }
}

function SourceSection({
  selected,
  explanation,
}: {
  selected: SelectedTask;
  explanation: Explanation | undefined;
}) {
  const { task, info, inBatch, run } = selected;
  const source = task?.source ?? explanation?.source ?? null;
  return (
    <Section title="Task">
      <Facts>
        <Fact name="Source">
          {source !== null && <CopyableText text={source} what="the source location" />}
        </Fact>
        <Fact name="Id">{task !== undefined && <code>{task.id}</code>}</Fact>
        <Fact name="Phase">{task?.phase && spellOutBidi(task.phaseTitle ?? task.phase)}</Fact>
        <Fact name="Agent">{info?.agent ?? task?.agent}</Fact>
        <Fact name="Model">{task?.model}</Fact>
        <Fact name="Touches">
          {task !== undefined && task.touches.length > 0 && <NameList names={task.touches} />}
        </Fact>
        <Fact name="Runs">{task?.run && <pre className={styles.command}>{spellOutBidi(task.run)}</pre>}</Fact>
        <Fact name="Verified by">{task?.verify && <code>{spellOutBidi(task.verify)}</code>}</Fact>
        <Fact name="Batch">{run !== null && <CopyableText text={run.batchId} what="the batch's id" />}</Fact>
        <Fact name="Session">
          {inBatch.data?.task.sessionId && (
            <CopyableText text={inBatch.data.task.sessionId} what="the session's id" />
          )}
        </Fact>
        <Fact name="Cost">{info !== undefined && formatCost(info.cost)}</Fact>
        <Fact name="Not editable">{task !== undefined && !task.editable && task.notEditable}</Fact>
      </Facts>
    </Section>
  );
}

export function NameList({ names }: { names: readonly string[] }) {
  return (
    <ul className={styles.names}>
      {names.map((name) => (
        <li key={name}>
          <code>{spellOutBidi(name)}</code>
        </li>
      ))}
    </ul>
  );
}

/** The description as Markdown. */
function DescriptionSection({ task }: { task: Task }) {
  const { data, error, refetch } = useTaskDetail(task.id);
  if (data === undefined && error !== null)
    return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data?.body.trim()) return null;
  const plain = <p className={styles.plain}>{spellOutBidi(data.body)}</p>;
  return (
    <Section title="Description">
      {data.body.length > MAX_MARKDOWN_LENGTH ? (
        plain
      ) : (
        <Suspense fallback={plain}>
          <Markdown text={data.body} />
        </Suspense>
      )}
    </Section>
  );
}

const MAX_MARKDOWN_LENGTH = 200_000; // characters: longer texts are not rendered as Markdown

interface Props {
  task: Task | undefined;
  explanation: Explanation | undefined;
}

/** Its dependencies: from its batch, else from its source. */
function NeedsSection({ task, explanation }: Props) {
  const needs = explanation?.needs ?? task?.needs ?? [];
  if (needs.length === 0) return null;
  return (
    <Section title="Needs">
      <ul className={styles.needs}>
        {needs.map((need) => (
          <NeedItem key={need.id} need={need} batchId={explanation?.batchId ?? null} />
        ))}
      </ul>
    </Section>
  );
}

type NeedInfo = Explanation["needs"][number] | Task["needs"][number];

function NeedItem({ need, batchId }: { need: NeedInfo; batchId: string | null }) {
  const [, setOpen] = useOpenTask();
  const known = useBoard(({ board }) => board.tasks.get(need.id));
  const status = "status" in need ? need.status : (known?.batch?.status ?? null);
  const inBatch = batchId !== null && "status" in need && need.status !== null;
  const open = () => setOpen(inBatch ? { task: need.id, batch: batchId } : { task: need.id });
  return (
    <li className={styles.need}>
      {inBatch || known !== undefined ? (
        <button type="button" className={styles.link} onClick={open}>
          <bdi>{spellOutBidi(need.id)}</bdi>
        </button>
      ) : (
        <bdi>{spellOutBidi(need.id)}</bdi>
      )}
      {status !== null ? (
        <TaskStatusBadge status={status} />
      ) : (
        known !== undefined && <span>{COLUMN_NAMES[columnOf(known)]}</span>
      )}
      {need.reason !== "" && (
        <span className={styles.muted} dir="auto">
          {spellOutBidi(need.reason)}
          {need.at !== null && ` (${spellOutBidi(need.at)})`}
        </span>
      )}
    </li>
  );
}

const MAX_FILES = 20; // files

/** Its result, and where that is. */
function ResultSection({ explanation }: { explanation: Explanation }) {
  const { result, batchId } = explanation;
  if (result === null) return null;
  const { branch, tip, commit, worktreePath, files, gate, published, place, ref } = result;
  return (
    <Section title="Result">
      <Facts>
        <Fact name="Merged">
          {commit !== null && (
            <>
              <CopyableText text={commit} shown={shortId(commit)} what="the commit" />
              {place !== null && `as number ${place} on `}
              <Link href={routes.review(batchId)}>the batch branch</Link>
            </>
          )}
        </Fact>
        <Fact name="Gate">{gate !== null && `${gateText(gate.passed)} on ${shortId(gate.commit)}`}</Fact>
        <Fact name="Published">{published !== null && published}</Fact>
        <Fact name="Branch">{branch !== null && <CopyableText text={branch} what="the branch" />}</Fact>
        <Fact name="Tip">
          {tip !== null && <CopyableText text={tip} shown={shortId(tip)} what="the tip" />}
        </Fact>
        <Fact name="Ref">{ref !== null && <CopyableText text={ref} what="the ref" />}</Fact>
        <Fact name="Worktree">
          {worktreePath !== null && <CopyableText text={worktreePath} what="the path" />}
        </Fact>
        <Fact name="Files">
          {files.length > 0 && (
            <>
              <NameList names={files.slice(0, MAX_FILES)} />
              {files.length > MAX_FILES && (
                <span className={styles.muted}>
                  and {pluralize(files.length - MAX_FILES, "more file")}: see the diff
                </span>
              )}
            </>
          )}
        </Fact>
      </Facts>
    </Section>
  );
}

export function gateText(passed: boolean | null): string {
  return passed === null ? "Running" : passed ? "Passed" : "Failed";
}
