/* All about one task, at the right of the page: what it is, why it is where it is, what it printed and changed. */

import { lazy, Suspense, useEffect } from "react";
import { ApiError } from "../api/client";
import type { OpenTask } from "../app/routes";
import { EmptyState, ErrorState, LoadingState } from "../components/EmptyState";
import { AboutTab } from "./AboutTab";
import { NEWEST_ATTEMPT, useSelectedAttempt } from "./attempts";
import { ChecksTab } from "./ChecksTab";
import { LogTab } from "./LogTab";
import { PanelFrame } from "./PanelFrame";
import { type SelectedTask, useSelectedTask } from "./selectedTask";
import { TaskActions } from "./TaskActions";

const DiffView = lazy(() => import("../diff/DiffView"));

export default function TaskPanel({ open }: { open: OpenTask }) {
  const selected = useSelectedTask(open);
  useEffect(() => () => useSelectedAttempt.setState(NEWEST_ATTEMPT), []);
  const { task, info, exists } = selected;
  return (
    <PanelFrame
      open={open}
      task={task}
      title={task?.title ?? selected.inBatch.data?.task.title ?? open.task}
      known={info}
      actions={exists && <TaskActions selected={selected} />}
      withoutTabs={!exists}
    >
      {exists ? (
        <TabContent open={open} selected={selected} />
      ) : (
        <MissingTask open={open} selected={selected} />
      )}
    </PanelFrame>
  );
}

function TabContent({ open, selected }: { open: OpenTask; selected: SelectedTask }) {
  const { run } = selected;
  if (open.tab === "about") return <AboutTab selected={selected} />;
  if (run === null) {
    return (
      <EmptyState title="It has not been run yet">
        Select it on the board and execute it: what it prints and changes is shown here then.
      </EmptyState>
    );
  }
  switch (open.tab) {
    case "log":
      return <LogTab run={run} explanation={selected.explanation} />;
    case "diff":
      return (
        <Suspense fallback={<LoadingState what="Reading the change" />}>
          <DiffView batchId={run.batchId} taskId={run.taskId} />
        </Suspense>
      );
    case "checks":
      return <ChecksTab run={run} selected={selected} />;
  }
}

function MissingTask({ open, selected }: { open: OpenTask; selected: SelectedTask }) {
  const { loaded, run, inBatch } = selected;
  const { error } = inBatch;
  if (run === null) {
    if (!loaded) return <LoadingState what="Reading the tasks" />;
    return (
      <EmptyState title={`There is no task ${open.task}`}>
        No source has it, or it was given another name. The board has what there is.
      </EmptyState>
    );
  }
  if (error instanceof ApiError && error.status === 404)
    return <EmptyState title="There is no such task">{`${error.message}.`}</EmptyState>;
  if (error !== null) return <ErrorState error={error} onRetry={() => void inBatch.refetch()} />;
  return <LoadingState what="Reading the task" />;
}
