import { lazy, Suspense, useEffect, useRef } from "react";
import type { Explanation, Task } from "../api/types";
import { useEditor } from "../editing/editor";
import { formatCost } from "../model/format";
import { ErrorState, LoadingState } from "../parts/Empty";
import { TaskStatusBadge } from "../parts/Status";
import styles from "./About.module.css";
import { AttemptsTable } from "./Attempts";
import { ContestTable } from "./Contest";
import { CopyableText, Fact, Facts, Section } from "./Facts";
import { NeedsSection } from "./Needs";
import { ResultSection } from "./Result";
import { useTaskDetail } from "./useRun";
import type { SelectedTask } from "./useSubject";

const Markdown = lazy(() => import("../parts/Markdown"));

/** What it is, why it is where it is now, and what it has been through. */
export function AboutTab({ selected }: { selected: SelectedTask }) {
  const { task, run, explanation } = selected;
  return (
    <div className={styles.about}>
      {run !== null && <StatusSection selected={selected} />}
      {explanation.data?.contest && (
        <ContestTable contest={explanation.data.contest} batchId={explanation.data.batchId} />
      )}
      {explanation.data && explanation.data.attempts.length > 0 && (
        <AttemptsTable explanation={explanation.data} />
      )}
      {explanation.data?.result && <ResultSection explanation={explanation.data} />}
      <NeedsSection task={task} explanation={explanation.data} />
      <SourceSection selected={selected} explanation={explanation.data} />
      {task !== undefined && <DescriptionSection task={task} />}
    </div>
  );
}

function StatusSection({ selected: { info, explanation } }: { selected: SelectedTask }) {
  const { data, error } = explanation;
  if (data === undefined && error !== null)
    return <ErrorState error={error} onRetry={() => void explanation.refetch()} />;
  const status = info?.status ?? data?.status;
  const current = data !== undefined && data.status === status;
  return (
    <Section title="Why it is where it is">
      <p className={styles.why}>
        {status && <TaskStatusBadge status={status} />}
        <span dir="auto">{(current ? data.reason : info?.reason) || "Nothing more is known."}</span>
      </p>
      {data === undefined ? (
        <LoadingState what="Asking why" />
      ) : (
        <p className={styles.way} dir="auto">
          {current ? data.way : "It has just changed."}
        </p>
      )}
    </Section>
  );
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
        <Fact name="Source">{source !== null && <CopyableText text={source} what="where it is said" />}</Fact>
        <Fact name="Id">{task !== undefined && <code>{task.id}</code>}</Fact>
        <Fact name="Phase">{task?.phase}</Fact>
        <Fact name="Agent">{info?.agent ?? task?.agent}</Fact>
        <Fact name="Model">{task?.model}</Fact>
        <Fact name="Touches">
          {task !== undefined && task.touches.length > 0 && <NameList names={task.touches} />}
        </Fact>
        <Fact name="Runs">{task?.run && <pre className={styles.command}>{task.run}</pre>}</Fact>
        <Fact name="Verified by">{task?.verify && <code>{task.verify}</code>}</Fact>
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
          <code>{name}</code>
        </li>
      ))}
    </ul>
  );
}

/** Its text, as markdown; read again when somebody has edited it. */
function DescriptionSection({ task }: { task: Task }) {
  const { data, error, refetch } = useTaskDetail(task.id);
  const editing = useEditor((editor) => editor.open !== null);
  const edited = useRef(false);
  useEffect(() => {
    if (edited.current && !editing) void refetch();
    edited.current = editing;
  }, [editing, refetch]);
  if (data === undefined && error !== null)
    return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data?.body.trim()) return null;
  const plain = <p className={styles.plain}>{data.body}</p>;
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

const MAX_MARKDOWN_LENGTH = 200_000; // characters: longer ones are shown as they are
