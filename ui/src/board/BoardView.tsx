import {
  type KeyboardEvent,
  type RefObject,
  useCallback,
  useEffect,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { describeError } from "../api/client";
import type { Task } from "../api/types";
import { useReadOnlyReason } from "../app/access";
import { type Tab, useOpenTask } from "../app/routes";
import { BatchStrips } from "../batch/BatchStrips";
import { ForYou } from "../batch/ForYou";
import { RunBar } from "../batch/RunBar";
import { Button } from "../components/Button";
import { EmptyState, ErrorState, LoadingState } from "../components/EmptyState";
import { Icon } from "../components/Icon";
import { ColumnIcon } from "../components/Status";
import { openEditor } from "../editing/editorState";
import { useLive } from "../live/LiveProvider";
import { runKey } from "../model/board";
import { COLUMN_NAMES, COLUMNS, type Column } from "../model/columns";
import { pluralize, spellOutBidi } from "../model/format";
import { useBoard } from "../store/board";
import { useSelection } from "../store/selection";
import { BoardColumn } from "./BoardColumn";
import styles from "./BoardView.module.css";
import { showColumnOf, trackBoard, useBoardLayout } from "./boardLayout";
import { OpenTaskContext } from "./Card";
import { CardMenu } from "./CardMenu";
import { TellDialog } from "./TellDialog";
import { Toolbar } from "./Toolbar";
import { useBoardCommands, useNewTaskCommand } from "./useBoardCommands";
import { clearFilter, setColumn, useViewInUrl, useViewSettings } from "./viewSettings";

const ONE_COLUMN_WIDTH = 520; // px: below that, one column fits

/** All tasks of the sources, by column. */
export function BoardView() {
  const loaded = useBoard((store) => store.loaded);
  const failure = useBoard((store) => store.failure);
  const live = useLive();
  useNewTaskCommand();
  return (
    <>
      <h1 className="visually-hidden">Board</h1>
      {loaded ? (
        <Board />
      ) : failure ? (
        <ErrorState error={failure} onRetry={() => void live?.refresh()} />
      ) : (
        <LoadingState what="Loading tasks" />
      )}
    </>
  );
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
    ({ id, batch }: Task, tab?: Tab) =>
      latest.current({ task: batch?.taskId ?? id, batch: batch?.batchId ?? null, ...(tab && { tab }) }),
    [],
  );
  useBoardCommands(openTask, open !== null);
  const view = useRef<HTMLDivElement>(null);
  const single = useNarrowerThan(view, ONE_COLUMN_WIDTH);
  const selecting = useSelection((store) => store.selected.size > 0);
  return (
    <OpenTaskContext value={openTask}>
      <div ref={view} className={styles.view} data-selecting={selecting || undefined}>
        <div className={styles.above} hidden={single && open !== null}>
          <ForYou />
          <BatchStrips />
        </div>
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
        <CardMenu />
        <TellDialog />
      </div>
    </OpenTaskContext>
  );
}

/** Shown when the server refuses to reload the tasks. An expired login is reported by ConnectionStatus. */
function StaleNotice() {
  const failure = useBoard((store) => (store.connection === "lost" ? null : store.failure));
  if (failure === null) return null;
  const { message, hint } = describeError(failure);
  return (
    <p className={styles.notice} role="status" dir="auto">
      Can't load tasks; the board may be out of date: {message}. {hint}
    </p>
  );
}

/** Marks the card of the open task, whose panel may use its id in the batch. */
function useOpenCardMark(open: ReturnType<typeof useOpenTask>[0]): void {
  const id = useBoard(({ board }) => {
    if (open === null) return null;
    return (open.batch === null ? undefined : board.byRun.get(runKey(open.batch, open.task))) ?? open.task;
  });
  useEffect(() => {
    useBoardLayout.setState({ open: id });
    if (id !== null) showColumnOf(id);
    return () => useBoardLayout.setState({ open: null });
  }, [id]);
}

/** `alone`: only one column fits. */
function Columns({ single }: { single: boolean }) {
  const one = useViewSettings((store) => store.column);
  const empty = useBoardLayout((store) => COLUMNS.every((column) => store.columns[column].length === 0));
  const columns = useRef<HTMLDivElement>(null);
  useOpenCardVisible(columns);
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
    <div ref={columns} className={styles.columns}>
      {COLUMNS.map((column) => (
        <BoardColumn key={column} column={column} />
      ))}
    </div>
  );
}

/** The panel narrows the board: the card that it belongs to stays visible beside it. */
function useOpenCardVisible(columns: RefObject<HTMLElement | null>): void {
  const open = useBoardLayout((store) => store.open);
  useEffect(() => {
    const element = columns.current;
    if (open === null || element === null) return;
    const scroll = () =>
      element.querySelector("[data-open]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
    const observer = new ResizeObserver(scroll);
    observer.observe(element);
    return () => observer.disconnect();
  }, [columns, open]);
}

function NoMatches() {
  return (
    <EmptyState title="No matching tasks">
      <p>No task matches the search and filters.</p>
      <p className={styles.actions}>
        <Button onClick={clearFilter}>Show all tasks</Button>
      </p>
    </EmptyState>
  );
}

function NoTasks() {
  const readOnlyReason = useReadOnlyReason();
  return (
    <EmptyState title="No tasks yet">
      <p>
        Create one here, or run <code>plait init</code> in the repository. Tasks are files: any file added to
        the tasks folder appears on this board.
      </p>
      <p className={styles.actions}>
        <Button kind="primary" disabled={readOnlyReason} onClick={() => openEditor(null)}>
          New task
        </Button>
      </p>
    </EmptyState>
  );
}

/** The selector for the one column that fits. */
function ColumnTabs() {
  const current = useViewSettings((store) => store.column);
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const next = COLUMNS[COLUMNS.indexOf(current) + step];
    if (step === 0 || next === undefined) return;
    event.preventDefault();
    setColumn(next);
    document.getElementById(`tab-${next}`)?.focus();
  };
  return (
    <div className={styles.tabs} role="tablist" aria-label="Columns" tabIndex={-1} onKeyDown={onKeyDown}>
      {COLUMNS.map((column) => (
        <ColumnTab key={column} column={column} current={column === current} />
      ))}
    </div>
  );
}

function ColumnTab({ column, current }: { column: Column; current: boolean }) {
  const count = useBoardLayout((store) => store.columns[column].length);
  return (
    <button
      type="button"
      role="tab"
      id={`tab-${column}`}
      className={styles.tab}
      aria-selected={current}
      aria-controls="column"
      aria-label={`${COLUMN_NAMES[column]}, ${count}`}
      tabIndex={current ? 0 : -1}
      data-empty={count === 0 || undefined}
      onClick={() => setColumn(column)}
    >
      <span aria-hidden="true">
        <ColumnIcon column={column} />
      </span>
      <span>{count}</span>
    </button>
  );
}

const MAX_PROBLEMS = 200; // at first

/** Problems in the sources, collapsed by default. */
function SourceProblems() {
  const problems = useBoard(({ board }) => board.problems);
  const empty = useBoard(({ board }) => board.tasks.size === 0);
  const [all, setAll] = useState(false);
  // Missing sources are reported by the empty board.
  if (problems.length === 0 || (empty && problems.every(({ file }) => file === null))) return null;
  return (
    <details className={styles.problems}>
      <summary>
        <Icon name="warning" />
        {pluralize(problems.length, "problem")} in the sources
      </summary>
      <ul>
        {(all ? problems : problems.slice(0, MAX_PROBLEMS)).map((problem, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: equal problems have no other key
          <li key={at} dir="auto">
            <span className={styles.severity}>{problem.severity}</span>{" "}
            {problem.file !== null && (
              <code>
                {spellOutBidi(problem.file)}
                {problem.line !== null && `:${problem.line}`}
              </code>
            )}{" "}
            {spellOutBidi(problem.message)}
            {problem.hint !== null && (
              <span className={styles.problemHint}> {spellOutBidi(problem.hint)}</span>
            )}
          </li>
        ))}
      </ul>
      {!all && problems.length > MAX_PROBLEMS && (
        <Button kind="quiet" onClick={() => setAll(true)}>
          Show {problems.length - MAX_PROBLEMS} more
        </Button>
      )}
    </details>
  );
}

/** Whether an element is narrower than this, in pixels; panels beside it count. */
function useNarrowerThan(box: RefObject<HTMLElement | null>, width: number): boolean {
  const [narrower, setNarrower] = useState(false);
  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const measure = () => setNarrower(element.clientWidth < width);
    measure();
    const watching = new ResizeObserver(measure);
    watching.observe(element);
    return () => watching.disconnect();
  }, [box, width]);
  return narrower;
}
