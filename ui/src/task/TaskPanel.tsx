/* The panel with everything about one task. */

import { lazy, Suspense, useEffect } from "react";
import { ApiError } from "../api/client";
import { useConversation } from "../api/queries";
import type { OpenTask } from "../app/routes";
import { EmptyState, ErrorState, LoadingState } from "../components/EmptyState";
import { Select } from "../components/Select";
import { AboutTab, ConversationTab } from "./AboutTab";
import {
  type Attempt,
  diffOptions,
  hasChange,
  isSameDiff,
  NEWEST_ATTEMPT,
  NEWEST_DIFF,
  selectDiff,
  useSelectedAttempt,
  useSelectedDiff,
} from "./attempts";
import { ChecksTab } from "./ChecksTab";
import { ToldText } from "./Conversation";
import { LogTab } from "./LogTab";
import { PanelFrame } from "./PanelFrame";
import { type RunRef, type SelectedTask, useSelectedTask } from "./selectedTask";
import { TaskActions } from "./TaskActions";
import styles from "./TaskPanel.module.css";

const DiffView = lazy(() => import("../diff/DiffView"));

export function TaskPanel({ open }: { open: OpenTask }) {
  const selected = useSelectedTask(open);
  useEffect(
    () => () => {
      useSelectedAttempt.setState(NEWEST_ATTEMPT);
      useSelectedDiff.setState(NEWEST_DIFF);
    },
    [],
  );
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
  if (open.tab === "conversation") return <ConversationTab selected={selected} />;
  if (open.tab === "about") return <AboutTab selected={selected} />;
  if (run === null) {
    return <EmptyState title="Not run yet">Run it to see its output and changes here.</EmptyState>;
  }
  switch (open.tab) {
    case "log":
      return <LogTab run={run} explanation={selected.explanation} />;
    case "diff":
      return (
        <Suspense fallback={<LoadingState what="Loading the diff" />}>
          <TaskDiff run={run} attempts={selected.explanation.data?.attempts ?? []} />
        </Suspense>
      );
    case "checks":
      return <ChecksTab run={run} selected={selected} />;
  }
}

/** Of the selected attempt, else its merged change or that of the newest attempt. */
function TaskDiff({ run, attempts }: { run: RunRef; attempts: readonly Attempt[] }) {
  const shown = useSelectedDiff();
  const { attempt, since, resolution } = shown;
  const conversation = useConversation(run);
  const options = diffOptions(attempts, conversation.data?.entries ?? []);
  return (
    <>
      {options.length > 1 && (
        <div className={styles.diffSelect}>
          <Select
            label="Changes"
            options={options.map(({ title }) => [title, title])}
            value={options.find((each) => isSameDiff(each, shown))?.title ?? ""}
            onSelect={(chosen) => selectDiff(options.find(({ title }) => title === chosen) ?? NEWEST_DIFF)}
          />
        </div>
      )}
      <ToldBefore attempt={findShownAttempt(attempts, attempt)} />
      <DiffView
        key={`${attempt} ${since} ${resolution}`}
        batchId={run.batchId}
        taskId={run.taskId}
        attempt={attempt}
        since={since}
        resolution={resolution}
      />
    </>
  );
}

/** The one whose diff is shown. */
function findShownAttempt(attempts: readonly Attempt[], chosen: number | null): Attempt | undefined {
  return attempts.findLast(
    (each) => each.step === "write" && (chosen === null ? hasChange(each) : each.attempt === chosen),
  );
}

/** A change answers to what its attempt was told. */
function ToldBefore({ attempt }: { attempt: Attempt | undefined }) {
  if (attempt === undefined || attempt.told.length === 0) return null;
  return (
    <details className={styles.told}>
      <summary>What attempt {attempt.attempt} was told</summary>
      {attempt.told.map((told) => (
        <ToldText key={`${told.at} ${told.text}`} told={told} />
      ))}
    </details>
  );
}

function MissingTask({ open, selected }: { open: OpenTask; selected: SelectedTask }) {
  const { loaded, run, inBatch } = selected;
  const { error } = inBatch;
  if (run === null) {
    if (!loaded) return <LoadingState what="Loading tasks" />;
    return (
      <EmptyState title={`Task ${open.task} not found`}>
        It was removed or renamed. The board shows all tasks.
      </EmptyState>
    );
  }
  if (error instanceof ApiError && error.status === 404)
    return <EmptyState title="Task not found">{`${error.message}.`}</EmptyState>;
  if (error !== null) return <ErrorState error={error} onRetry={() => void inBatch.refetch()} />;
  return <LoadingState what="Loading the task" />;
}
