import { type ChangeEvent, createContext, memo, type ReactNode, use, useMemo, useState } from "react";
import type { Run, Task } from "../api/types";
import type { Tab } from "../app/routes";
import { useNow } from "../components/hooks";
import { MixedCheckbox } from "../components/MixedCheckbox";
import { TaskStatusBadge } from "../components/Status";
import { runKey } from "../model/board";
import type { Column } from "../model/columns";
import { agentOf } from "../model/filter";
import { formatCost, formatDiffstat, formatDuration, pluralize, workSeconds } from "../model/format";
import { groupMembers, groupProgress, isGroup } from "../model/groups";
import { useBoard, useTask } from "../store/board";
import { selectRange, toggleAll, toggleSelected, useSelection } from "../store/selection";
import { selectableIds, setCursor, useBoardLayout } from "./boardLayout";
import styles from "./Card.module.css";
import { CardToolbar } from "./CardToolbar";
import { openCardMenu } from "./cardCommands";
import {
  cardReason,
  describeMove,
  formatPriority,
  isTall,
  ownStatus,
  reasonLength,
  repeatsTitle,
  truncate,
} from "./cardText";

/** Renders only when its task, its selection or its activity changes. */
export const Card = memo(function Card({ id, column, width }: CardProps) {
  const task = useTask(id);
  if (task === undefined) return null;
  return isGroup(task) ? <GroupCard task={task} /> : <TaskCard task={task} column={column} width={width} />;
});

interface CardProps {
  id: string;
  column: Column;
  /** In px. */
  width: number;
}

function TaskCard({ task, column, width }: Omit<CardProps, "id"> & { task: Task }) {
  const { id, batch } = task;
  const selected = useSelection((store) => store.selected.has(id));
  const atCursor = useBoardLayout((store) => store.cursor === id);
  const moved = describeMove(task, column);
  const activity = useBoard(({ board }) =>
    batch === null ? undefined : board.activity.get(runKey(batch.batchId, batch.taskId)),
  );
  const reason = moved ?? (isTall(column) ? cardReason(task, activity) : "");
  const length = reasonLength(reason, width - CARD_PADDING, measureSmallText);
  return (
    <CardFrame
      task={task}
      data-status={batch?.needsYou ? "asking" : batch?.status}
      data-chosen={selected || undefined}
      data-reason={length}
    >
      <CardName task={task} atCursor={atCursor} />
      <SelectCheckbox id={id} selected={selected} atCursor={atCursor} column={column} />
      {(moved === null || isTall(column)) && <CardFacts task={task} column={column} />}
      {reason !== "" && (
        <p className={moved === null ? styles.reason : styles.moved} title={reason} dir="auto">
          {reason}
        </p>
      )}
    </CardFrame>
  );
}

const CARD_PADDING = 22; // px at both sides, with the border, as in the CSS

let canvas: CanvasRenderingContext2D | null = null;

/** The width of a text as reasons are drawn. */
function measureSmallText(text: string): number {
  if (canvas === null) {
    canvas = document.createElement("canvas").getContext("2d");
    if (canvas !== null) canvas.font = `12px ${getComputedStyle(document.body).fontFamily}`;
  }
  return canvas?.measureText(text).width ?? 0;
}

interface CardFrameProps {
  task: Task;
  children: ReactNode;
  "data-status"?: string | undefined;
  "data-group"?: string;
  "data-chosen"?: boolean | undefined;
  "data-reason"?: ReturnType<typeof reasonLength>;
}

/** A click anywhere on a card opens its task, as its title does. */
function CardFrame({ task, children, ...data }: CardFrameProps) {
  const openTask = use(OpenTaskContext);
  const [hovered, setHovered] = useState(false);
  const atCursor = useBoardLayout((store) => store.cursor === task.id);
  const open = useBoardLayout((store) => store.open === task.id);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: with the keyboard, the title is pressed, and the click bubbles up
    <article
      className={styles.card}
      data-card={task.id}
      data-open={open || undefined}
      {...data}
      onClick={() => openTask(task)}
      onPointerEnter={() => setHovered(true)}
      onPointerLeave={() => setHovered(false)}
      onContextMenu={(event) => {
        event.preventDefault();
        openCardMenu(task.id, event.clientX > 0 ? { x: event.clientX, y: event.clientY } : undefined);
      }}
    >
      {children}
      {(hovered || atCursor) && <CardToolbar task={task} tabbable={atCursor} />}
    </article>
  );
}

function CardName({ task, atCursor }: { task: Task; atCursor: boolean }) {
  const { id, title } = task;
  return (
    <button
      type="button"
      className={styles.name}
      tabIndex={atCursor ? 0 : -1}
      title={truncate(title)}
      onFocus={() => setCursor(id)}
    >
      {repeatsTitle(id, title) || (
        <>
          <bdi className={styles.id}>{truncate(id)}</bdi>{" "}
        </>
      )}
      <bdi className={styles.title}>{truncate(title)}</bdi>
    </button>
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

/** One row of facts. Parts that don't fit are dropped from the end instead of being cut. */
function CardFacts({ task, column }: { task: Task; column: Column }) {
  const { needs, batch } = task;
  const agent = agentOf(task);
  const status = ownStatus(task, column);
  const priority = formatPriority(task.priority);
  return (
    <p className={styles.row}>
      <span className={styles.wrapping}>
        {status !== "" &&
          (batch === null ? (
            <span className={styles.fixed}>{status}</span>
          ) : (
            <TaskStatusBadge status={batch.status} />
          ))}
        {priority !== "" && (
          <span className={styles.priority} data-high={task.priority < 1 || undefined}>
            {priority}
          </span>
        )}
        {column === "todo" && needs.length > 0 && (
          <span className={styles.fixed} title={`needs ${listNeeds(task)}`}>
            needs {needs.length}
            <span className="visually-hidden">: {listNeeds(task)}</span>
          </span>
        )}
        {agent !== "" && (
          <bdi className={styles.agent} title={truncate(agent)}>
            {truncate(agent)}
          </bdi>
        )}
        {batch?.startedAt && <WorkTime run={batch} />}
        {batch !== null && batch.attempt > 1 && <span className={styles.fixed}>attempt {batch.attempt}</span>}
      </span>
      {batch !== null && <Figures run={batch} />}
    </p>
  );
}

const MAX_NEEDS = 20;

function listNeeds({ needs }: Task): string {
  const named = needs.slice(0, MAX_NEEDS).map((need) => truncate(need.id));
  return needs.length > MAX_NEEDS ? `${named.join(", ")} and more` : named.join(", ");
}

/** Diffstat and cost, once known. */
function Figures({ run: { diffstat, cost } }: { run: Run }) {
  const price = formatCost(cost);
  const changed = diffstat !== null && diffstat.files > 0;
  return (
    <>
      {changed && <span className={styles.fixed}>{formatDiffstat(diffstat)}</span>}
      {price !== "" && <span className={styles.fixed}>{price}</span>}
    </>
  );
}

function WorkTime({ run: { seconds, workingSince } }: { run: Run }) {
  const now = useNow(workingSince !== null);
  return <span className={styles.fixed}>{formatDuration(workSeconds(seconds, workingSince, now))}</span>;
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
        <span className={styles.fixed}>{progress} done</span>
      </p>
    </CardFrame>
  );
}

/** Opens a task's panel. A stable function, so that cards don't render again. */
export const OpenTaskContext = createContext<(task: Task, tab?: Tab) => void>(() => undefined);
