import { type ChangeEvent, createContext, memo, type ReactNode, use, useMemo } from "react";
import type { Run, Task } from "../api/types";
import { useNow } from "../components/hooks";
import { MixedCheckbox } from "../components/MixedCheckbox";
import { TaskStatusBadge } from "../components/Status";
import { runKey } from "../model/board";
import type { Column } from "../model/columns";
import { agentOf, fileOf } from "../model/filter";
import { formatCost, formatDiffstat, formatDuration, pluralize, workSeconds } from "../model/format";
import { groupMembers, groupProgress, isGroup } from "../model/groups";
import { useBoard, useTask } from "../store/board";
import { selectRange, toggleAll, toggleSelected, useSelection } from "../store/selection";
import { selectableIds, setCursor, useBoardLayout } from "./boardLayout";
import styles from "./Card.module.css";
import { cardHeight, describeMove, SHORT_HEIGHT, statusLine, truncate } from "./cardText";

/** Renders only when its task, its selection or its activity changes. */
export const Card = memo(function Card({ id, column }: { id: string; column: Column }) {
  const task = useTask(id);
  if (task === undefined) return null;
  return isGroup(task) ? <GroupCard task={task} /> : <TaskCard task={task} column={column} />;
});

function TaskCard({ task, column }: { task: Task; column: Column }) {
  const { id, batch } = task;
  const selected = useSelection((store) => store.selected.has(id));
  const atCursor = useBoardLayout((store) => store.cursor === id);
  const moved = describeMove(task, column);
  const tall = cardHeight(column) !== SHORT_HEIGHT;
  return (
    <CardFrame
      task={task}
      data-status={batch?.needsYou ? "asking" : batch?.status}
      data-chosen={selected || undefined}
    >
      <CardName task={task} atCursor={atCursor} />
      <SelectCheckbox id={id} selected={selected} atCursor={atCursor} column={column} />
      {tall && <RunDetails task={task} moved={moved} />}
      {!tall && (moved === null ? <IdleDetails task={task} /> : <p className={styles.row}>{moved}</p>)}
    </CardFrame>
  );
}

interface CardFrameProps {
  task: Task;
  children: ReactNode;
  "data-status"?: string | undefined;
  "data-group"?: string;
  "data-chosen"?: boolean | undefined;
}

/** A click anywhere on a card opens its task, as its title does. */
function CardFrame({ task, children, ...data }: CardFrameProps) {
  const openTask = use(OpenTaskContext);
  const open = useBoardLayout((store) => store.open === task.id);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: with the keyboard, the title is pressed, and the click bubbles up
    <article
      className={styles.card}
      data-card={task.id}
      data-open={open || undefined}
      {...data}
      onClick={() => openTask(task)}
    >
      {children}
    </article>
  );
}

function CardName({ task, atCursor }: { task: Task; atCursor: boolean }) {
  const figures = formatFigures(task);
  return (
    <>
      <button
        type="button"
        className={styles.name}
        tabIndex={atCursor ? 0 : -1}
        onFocus={() => setCursor(task.id)}
      >
        <span className={styles.id} dir="auto" style={{ paddingInlineEnd: 24 + figures.length * 7 }}>
          {truncate(task.id)}
        </span>{" "}
        <span className={styles.title} dir="auto" title={truncate(task.title)}>
          {truncate(task.title)}
        </span>
      </button>
      {figures !== "" && <span className={styles.figures}>{figures}</span>}
    </>
  );
}

function SelectCheckbox({
  id,
  selected,
  atCursor,
  column,
}: {
  id: string;
  selected: boolean;
  atCursor: boolean;
  column: Column;
}) {
  const onChange = ({ nativeEvent }: ChangeEvent) => {
    const range = nativeEvent instanceof MouseEvent && nativeEvent.shiftKey;
    if (range) selectRange(id, selectableIds(useBoardLayout.getState().columns[column]));
    else toggleSelected(id);
  };
  return (
    <input
      type="checkbox"
      className={styles.check}
      aria-label={`Select ${truncate(id)}`}
      tabIndex={atCursor ? 0 : -1}
      checked={selected}
      onChange={onChange}
      onClick={(event) => event.stopPropagation()}
      onFocus={() => setCursor(id)}
    />
  );
}

/** Status, dependencies and agent. Parts that don't fit are dropped from the end instead of being cut. */
function CardFacts({ task, leading, children }: { task: Task; leading?: ReactNode; children?: ReactNode }) {
  const { needs } = task;
  const agent = agentOf(task);
  return (
    <p className={styles.row}>
      <span className={styles.wrapping}>
        {leading}
        {needs.length > 0 && (
          <span className={styles.fixed} title={`needs ${listNeeds(task)}`}>
            needs {needs.length}
            <span className="visually-hidden">: {listNeeds(task)}</span>
          </span>
        )}
        {agent !== "" && (
          <span className={styles.agent} title={truncate(agent)} dir="auto">
            {truncate(agent)}
          </span>
        )}
      </span>
      {children}
    </p>
  );
}

const MAX_NEEDS = 20;

function listNeeds({ needs }: Task): string {
  const named = needs.slice(0, MAX_NEEDS).map((need) => truncate(need.id));
  return needs.length > MAX_NEEDS ? `${named.join(", ")} and more` : named.join(", ");
}

function SourceFile({ task }: { task: Task }) {
  if (task.source === null) return null;
  return (
    <span className={styles.file} title={task.source} dir="auto">
      {truncate(fileOf(task))}
    </span>
  );
}

/** Whether there is nothing relevant to show. */
function IdleDetails({ task }: { task: Task }) {
  const leading = (
    <>
      {task.batch !== null && <TaskStatusBadge status={task.batch.status} />}
      <SourceFile task={task} />
    </>
  );
  return <CardFacts task={task} leading={leading} />;
}

/** Status and duration, then its activity or the reason why it waits. */
function RunDetails({ task, moved }: { task: Task; moved: string | null }) {
  const { batch } = task;
  const activity = useBoard(({ board }) =>
    batch === null ? undefined : board.activity.get(runKey(batch.batchId, batch.taskId)),
  );
  const text = moved ?? statusLine(task, activity);
  const leading = batch !== null && (
    <>
      <TaskStatusBadge status={batch.status} />
      {batch.attempt > 1 && <span className={styles.fixed}>attempt {batch.attempt}</span>}
    </>
  );
  return (
    <>
      <CardFacts task={task} leading={leading}>
        {batch?.startedAt && <WorkTime run={batch} />}
      </CardFacts>
      <p className={styles.wrapping}>
        {text !== "" && (
          <span className={moved === null ? styles.status : styles.moved} title={text} dir="auto">
            {text}
          </span>
        )}
        <SourceFile task={task} />
      </p>
    </>
  );
}

/** Diffstat and cost, once known. */
function formatFigures({ batch }: Task): string {
  if (batch === null) return "";
  const { diffstat } = batch;
  return [diffstat === null || diffstat.files === 0 ? "" : formatDiffstat(diffstat), formatCost(batch.cost)]
    .filter(Boolean)
    .join("  ");
}

function WorkTime({ run: { seconds, workingSince } }: { run: Run }) {
  const now = useNow(workingSince !== null);
  return <span className={styles.elapsed}>{formatDuration(workSeconds(seconds, workingSince, now))}</span>;
}

/** A group is not run itself: selecting it selects its members. */
function GroupCard({ task }: { task: Task }) {
  const atCursor = useBoardLayout((store) => store.cursor === task.id);
  const progress = useBoard(({ board }) => groupProgress(board.tasks, task.id));
  const joined = useBoard(({ board }) => groupMembers(board.tasks, task.id).join("\n"));
  const ids = useMemo(() => joined.split("\n").filter(Boolean), [joined]);
  const selected = useSelection((store) => ids.filter((id) => store.selected.has(id)).length);
  return (
    <CardFrame
      task={task}
      data-group=""
      data-chosen={(ids.length > 0 && selected === ids.length) || undefined}
    >
      <CardName task={task} atCursor={atCursor} />
      <MixedCheckbox
        className={styles.check}
        label={`Select the parts of ${truncate(task.id)}`}
        selected={selected}
        total={ids.length}
        tabIndex={atCursor ? 0 : -1}
        onToggle={() => toggleAll(ids)}
      />
      <p className={styles.row}>
        <span className={styles.fixed}>group of {pluralize(task.parts.length, "task")}</span>
        <span className={styles.status}>{progress} done</span>
      </p>
    </CardFrame>
  );
}

/** Opens a task's panel. A stable function, so that cards don't render again. */
export const OpenTaskContext = createContext<(task: Task) => void>(() => undefined);
