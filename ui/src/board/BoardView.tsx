import { useCallback, useEffect, useRef } from "react";
import { describeError } from "../api/client";
import type { Task } from "../api/types";
import { useOpenTask } from "../app/address";
import { useReadOnlyReason } from "../app/me";
import { BatchStrips } from "../batch/BatchStrips";
import { RunBar } from "../batch/RunBar";
import { openEditor } from "../editing/editor";
import { useLive } from "../live/useLive";
import { runKey } from "../model/board";
import { COLUMNS } from "../model/columns";
import { Button } from "../parts/Button";
import { EmptyState, ErrorState, LoadingState } from "../parts/Empty";
import { useBoard } from "../store/board";
import { useSelection } from "../store/selection";
import { BoardColumn } from "./BoardColumn";
import styles from "./BoardView.module.css";
import { ColumnTabs } from "./ColumnTabs";
import { OpenTaskContext } from "./opens";
import { SourceProblems } from "./Problems";
import { trackBoard, useBoardLayout } from "./shown";
import { Toolbar } from "./Toolbar";
import { useBoardCommands } from "./useBoardCommands";
import { useNarrowerThan } from "./useNarrowerThan";
import { clearFilter, useViewInUrl, useViewSettings } from "./view";

const ONE_COLUMN_WIDTH = 520; // px: below that there is room for one

/** Every task of the sources, by where it stands. */
export function BoardView() {
  const loaded = useBoard((store) => store.loaded);
  const failure = useBoard((store) => store.failure);
  const live = useLive();
  if (failure && !loaded) return <ErrorState error={failure} onRetry={() => void live?.refresh()} />;
  if (!loaded) return <LoadingState what="Reading the tasks" />;
  return <Board />;
}

function Board() {
  const empty = useBoard(({ board }) => board.tasks.size === 0);
  useViewInUrl();
  useEffect(trackBoard, []);
  const [open, setOpen] = useOpenTask();
  useOpenCardMark(open);
  const latest = useRef(setOpen);
  latest.current = setOpen;
  const openTask = useCallback(
    ({ id, batch }: Task) => latest.current({ task: batch?.taskId ?? id, batch: batch?.batchId ?? null }),
    [],
  );
  useBoardCommands(openTask, open !== null);
  const view = useRef<HTMLDivElement>(null);
  const single = useNarrowerThan(view, ONE_COLUMN_WIDTH);
  const selecting = useSelection((store) => store.selected.size > 0);
  return (
    <OpenTaskContext value={openTask}>
      <div ref={view} className={styles.view} data-selecting={selecting || undefined}>
        <h1 className="unseen">Board</h1>
        <BatchStrips />
        <StaleNotice />
        <SourceProblems />
        {empty ? (
          <NoTasks />
        ) : (
          <>
            <Toolbar />
            <Columns single={single} />
          </>
        )}
        <RunBar />
      </div>
    </OpenTaskContext>
  );
}

/** What is seen is what was read last: the server refuses to read more. A login that is over is told above all views. */
function StaleNotice() {
  const failure = useBoard((store) => (store.connection === "lost" ? null : store.failure));
  if (failure === null) return null;
  const { message, hint } = describeError(failure);
  return (
    <p className={styles.notice} role="status" dir="auto">
      The tasks can't be read any more, and what you see may be out of date: {message}. {hint}
    </p>
  );
}

/** The card of the open task is marked; a panel names a task as its batch does. */
function useOpenCardMark(open: ReturnType<typeof useOpenTask>[0]): void {
  const id = useBoard(({ board }) => {
    if (open === null) return null;
    return (open.batch === null ? undefined : board.byRun.get(runKey(open.batch, open.task))) ?? open.task;
  });
  useEffect(() => {
    useBoardLayout.setState({ open: id });
    return () => useBoardLayout.setState({ open: null });
  }, [id]);
}

/** `alone`: there is room for one. */
function Columns({ single }: { single: boolean }) {
  const one = useViewSettings((store) => store.column);
  const empty = useBoardLayout(({ columns }) => COLUMNS.every((column) => columns[column].length === 0));
  if (empty) return <NoMatches />;
  if (single) {
    return (
      <>
        <ColumnTabs />
        <div className={styles.columns} id="column" role="tabpanel" aria-labelledby={`tab-${one}`}>
          <BoardColumn key={one} column={one} alone />
        </div>
      </>
    );
  }
  return (
    <div className={styles.columns}>
      {COLUMNS.map((column) => (
        <BoardColumn key={column} column={column} />
      ))}
    </div>
  );
}

function NoMatches() {
  return (
    <EmptyState title="No task is like that">
      <p>Nothing matches the search and the filters.</p>
      <p className={styles.actions}>
        <Button onClick={clearFilter}>Show all tasks</Button>
      </p>
    </EmptyState>
  );
}

function NoTasks() {
  const readOnlyReason = useReadOnlyReason();
  return (
    <EmptyState title="There are no tasks yet">
      <p>
        Write the first one here, or run <code>plait init</code> in the repository. Tasks are files: whatever
        is put into the folder of tasks appears on this board.
      </p>
      <p className={styles.actions}>
        <Button kind="primary" disabled={readOnlyReason} onClick={() => openEditor(null)}>
          New task
        </Button>
      </p>
    </EmptyState>
  );
}
