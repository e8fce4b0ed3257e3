import { lazy, Suspense, useEffect, useRef } from "react";
import type { Explanation, Task } from "../api/types";
import { useEditor } from "../editing/editor";
import { cost } from "../model/format";
import { Failure, Loading } from "../parts/Empty";
import { TaskBadge } from "../parts/Status";
import styles from "./About.module.css";
import { Attempts } from "./Attempts";
import { Contest } from "./Contest";
import { Copied, Fact, Facts, Section } from "./Facts";
import { Needs } from "./Needs";
import { Result } from "./Result";
import { useWholeTask } from "./useRun";
import type { Subject } from "./useSubject";

const Markdown = lazy(() => import("../parts/Markdown"));

/** What it is, why it is where it is now, and what it has been through. */
export function About({ subject }: { subject: Subject }) {
  const { task, run, explanation } = subject;
  return (
    <div className={styles.about}>
      {run !== null && <WhyNow subject={subject} />}
      {explanation.data?.contest && (
        <Contest contest={explanation.data.contest} batchId={explanation.data.batchId} />
      )}
      {explanation.data && explanation.data.attempts.length > 0 && (
        <Attempts explanation={explanation.data} />
      )}
      {explanation.data?.result && <Result explanation={explanation.data} />}
      <Needs task={task} explanation={explanation.data} />
      <Source subject={subject} explanation={explanation.data} />
      {task !== undefined && <Text task={task} />}
    </div>
  );
}

function WhyNow({ subject: { known, explanation } }: { subject: Subject }) {
  const { data, error } = explanation;
  if (data === undefined && error !== null)
    return <Failure error={error} again={() => void explanation.refetch()} />;
  const status = known?.status ?? data?.status;
  const fresh = data !== undefined && data.status === status;
  return (
    <Section title="Why it is where it is">
      <p className={styles.why}>
        {status && <TaskBadge status={status} />}
        <span dir="auto">{(fresh ? data.reason : known?.reason) || "Nothing more is known."}</span>
      </p>
      {data === undefined ? (
        <Loading what="Asking why" />
      ) : (
        <p className={styles.way} dir="auto">
          {fresh ? data.way : "It has just changed."}
        </p>
      )}
    </Section>
  );
}

function Source({ subject, explanation }: { subject: Subject; explanation: Explanation | undefined }) {
  const { task, known, inBatch, run } = subject;
  const source = task?.source ?? explanation?.source ?? null;
  return (
    <Section title="Task">
      <Facts>
        <Fact name="Source">{source !== null && <Copied text={source} what="where it is said" />}</Fact>
        <Fact name="Id">{task !== undefined && <code>{task.id}</code>}</Fact>
        <Fact name="Phase">{task?.phase}</Fact>
        <Fact name="Agent">{known?.agent ?? task?.agent}</Fact>
        <Fact name="Model">{task?.model}</Fact>
        <Fact name="Touches">
          {task !== undefined && task.touches.length > 0 && <Names names={task.touches} />}
        </Fact>
        <Fact name="Runs">{task?.run && <pre className={styles.command}>{task.run}</pre>}</Fact>
        <Fact name="Verified by">{task?.verify && <code>{task.verify}</code>}</Fact>
        <Fact name="Batch">{run !== null && <Copied text={run.batchId} what="the batch's id" />}</Fact>
        <Fact name="Session">
          {inBatch.data?.task.sessionId && (
            <Copied text={inBatch.data.task.sessionId} what="the session's id" />
          )}
        </Fact>
        <Fact name="Cost">{known !== undefined && cost(known.cost)}</Fact>
        <Fact name="Not editable">{task !== undefined && !task.editable && task.notEditable}</Fact>
      </Facts>
    </Section>
  );
}

export function Names({ names }: { names: readonly string[] }) {
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
function Text({ task }: { task: Task }) {
  const { data, error, refetch } = useWholeTask(task.id);
  const editing = useEditor((editor) => editor.open !== null);
  const edited = useRef(false);
  useEffect(() => {
    if (edited.current && !editing) void refetch();
    edited.current = editing;
  }, [editing, refetch]);
  if (data === undefined && error !== null) return <Failure error={error} again={() => void refetch()} />;
  if (!data?.body.trim()) return null;
  const plain = <p className={styles.plain}>{data.body}</p>;
  return (
    <Section title="Description">
      {data.body.length > LONGEST ? (
        plain
      ) : (
        <Suspense fallback={plain}>
          <Markdown text={data.body} />
        </Suspense>
      )}
    </Section>
  );
}

const LONGEST = 200_000; // characters: longer ones are shown as they are
