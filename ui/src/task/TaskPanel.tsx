/* All about one task, at the right of the page: what it is, why it is where it is, what it printed and changed. */

import { lazy, Suspense, useEffect } from "react";
import { Refused } from "../api/client";
import type { OpenTask } from "../app/address";
import { Empty, Failure, Loading } from "../parts/Empty";
import { About } from "./About";
import { Actions } from "./Actions";
import { Checks } from "./Checks";
import { NEWEST, useChosenAttempt } from "./chosen";
import { LogTab } from "./LogTab";
import { Panel } from "./Panel";
import { type Subject, useSubject } from "./useSubject";

const DiffView = lazy(() => import("../diff/DiffView"));

export default function TaskPanel({ open }: { open: OpenTask }) {
  const subject = useSubject(open);
  useEffect(() => () => useChosenAttempt.setState(NEWEST), []);
  const { task, known, there } = subject;
  return (
    <Panel
      open={open}
      task={task}
      title={task?.title ?? subject.inBatch.data?.task.title ?? open.task}
      known={known}
      actions={there && <Actions subject={subject} />}
      bare={!there}
    >
      {there ? <Body open={open} subject={subject} /> : <Missing open={open} subject={subject} />}
    </Panel>
  );
}

function Body({ open, subject }: { open: OpenTask; subject: Subject }) {
  const { run } = subject;
  if (open.tab === "about") return <About subject={subject} />;
  if (run === null) {
    return (
      <Empty title="It has not been run yet">
        Select it on the board and execute it: what it prints and changes is shown here then.
      </Empty>
    );
  }
  switch (open.tab) {
    case "log":
      return <LogTab run={run} explanation={subject.explanation} />;
    case "diff":
      return (
        <Suspense fallback={<Loading what="Reading the change" />}>
          <DiffView batchId={run.batchId} taskId={run.taskId} />
        </Suspense>
      );
    case "checks":
      return <Checks run={run} subject={subject} />;
  }
}

function Missing({ open, subject }: { open: OpenTask; subject: Subject }) {
  const { loaded, run, inBatch } = subject;
  const { error } = inBatch;
  if (run === null) {
    if (!loaded) return <Loading what="Reading the tasks" />;
    return (
      <Empty title={`There is no task ${open.task}`}>
        No source has it, or it was given another name. The board has what there is.
      </Empty>
    );
  }
  if (error instanceof Refused && error.status === 404)
    return <Empty title="There is no such task">{`${error.message}.`}</Empty>;
  if (error !== null) return <Failure error={error} again={() => void inBatch.refetch()} />;
  return <Loading what="Reading the task" />;
}
