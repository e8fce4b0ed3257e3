import { useCallback, useEffect, useRef } from "react";
import { inWords } from "../api/client";
import type { Task } from "../api/types";
import { useOpenTask } from "../app/address";
import { useMayNot } from "../app/me";
import { BatchStrips } from "../batch/BatchStrips";
import { RunBar } from "../batch/RunBar";
import { openEditor } from "../editing/editor";
import { useLive } from "../live/useLive";
import { runKey } from "../model/board";
import { COLUMNS } from "../model/columns";
import { Button } from "../parts/Button";
import { Empty, Failure, Loading } from "../parts/Empty";
import { useBoard } from "../store/board";
import { useSelection } from "../store/selection";
import { BoardColumn } from "./BoardColumn";
import styles from "./BoardView.module.css";
import { ColumnTabs } from "./ColumnTabs";
import { Opens } from "./opens";
import { Problems } from "./Problems";
import { useShown, watchBoard } from "./shown";
import { Toolbar } from "./Toolbar";
import { useBoardCommands } from "./useBoardCommands";
import { useNarrowerThan } from "./useNarrowerThan";
import { clearFilter, useView, useViewInAddress } from "./view";

const ONE_COLUMN = 520; // px: below that there is room for one

/** Every task of the sources, by where it stands. */
export function BoardView() {
  const loaded = useBoard((store) => store.loaded);
  const failure = useBoard((store) => store.failure);
  const live = useLive();
  if (failure && !loaded) return <Failure error={failure} again={() => void live?.refresh()} />;
  if (!loaded) return <Loading what="Reading the tasks" />;
  return <Board />;
}

function Board() {
  const none = useBoard(({ board }) => board.tasks.size === 0);
  useViewInAddress();
  useEffect(watchBoard, []);
  const [open, setOpen] = useOpenTask();
  useOpenCard(open);
  const set = useRef(setOpen);
  set.current = setOpen;
  const opens = useCallback(
    ({ id, batch }: Task) => set.current({ task: batch?.taskId ?? id, batch: batch?.batchId ?? null }),
    [],
  );
  useBoardCommands(opens, open !== null);
  const view = useRef<HTMLDivElement>(null);
  const alone = useNarrowerThan(view, ONE_COLUMN);
  const selecting = useSelection((store) => store.chosen.size > 0);
  return (
    <Opens value={opens}>
      <div ref={view} className={styles.view} data-selecting={selecting || undefined}>
        <h1 className="unseen">Board</h1>
        <BatchStrips />
        <NotReadAgain />
        <Problems />
        {none ? (
          <NoTasks />
        ) : (
          <>
            <Toolbar />
            <Columns alone={alone} />
          </>
        )}
        <RunBar />
      </div>
    </Opens>
  );
}

/** What is seen is what was read last: the server refuses to read more. A login that is over is told above all views. */
function NotReadAgain() {
  const failure = useBoard((store) => (store.link === "lost" ? null : store.failure));
  if (failure === null) return null;
  const { message, hint } = inWords(failure);
  return (
    <p className={styles.notice} role="status" dir="auto">
      The tasks can't be read any more, and what you see may be out of date: {message}. {hint}
    </p>
  );
}

/** The card of the open task is marked; a panel names a task as its batch does. */
function useOpenCard(open: ReturnType<typeof useOpenTask>[0]): void {
  const id = useBoard(({ board }) => {
    if (open === null) return null;
    return (open.batch === null ? undefined : board.byRun.get(runKey(open.batch, open.task))) ?? open.task;
  });
  useEffect(() => {
    useShown.setState({ open: id });
    return () => useShown.setState({ open: null });
  }, [id]);
}

/** `alone`: there is room for one. */
function Columns({ alone }: { alone: boolean }) {
  const one = useView((store) => store.column);
  const nothing = useShown(({ columns }) => COLUMNS.every((column) => columns[column].length === 0));
  if (nothing) return <NothingFound />;
  if (alone) {
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

function NothingFound() {
  return (
    <Empty title="No task is like that">
      <p>Nothing matches the search and the filters.</p>
      <p className={styles.actions}>
        <Button onClick={clearFilter}>Show all tasks</Button>
      </p>
    </Empty>
  );
}

function NoTasks() {
  const mayNot = useMayNot();
  return (
    <Empty title="There are no tasks yet">
      <p>
        Write the first one here, or run <code>plait init</code> in the repository. Tasks are files: whatever
        is put into the folder of tasks appears on this board.
      </p>
      <p className={styles.actions}>
        <Button kind="primary" disabled={mayNot} onClick={() => openEditor(null)}>
          New task
        </Button>
      </p>
    </Empty>
  );
}
