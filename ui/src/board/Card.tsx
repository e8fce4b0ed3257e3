import { type ChangeEvent, memo, type ReactNode, use } from "react";
import type { Task } from "../api/types";
import { runKey } from "../model/board";
import type { Column } from "../model/columns";
import { agentOf, fileOf } from "../model/filter";
import { changes, cost, duration, elapsed } from "../model/format";
import { isGroup } from "../model/groups";
import { useNow } from "../parts/now";
import { TaskBadge } from "../parts/Status";
import { useBoard, useTask } from "../store/board";
import { choosePast, toggle, useSelection } from "../store/selection";
import styles from "./Card.module.css";
import { clipped, elsewhere, heightIn, line, SHORT } from "./card";
import { GroupCard } from "./GroupCard";
import { Opens } from "./opens";
import { selectable } from "./selecting";
import { setCursor, useShown } from "./shown";

/** Drawn again when its own task, its selection or what its agent says changes, and for nothing else. */
export const Card = memo(function Card({ id, column }: { id: string; column: Column }) {
  const task = useTask(id);
  if (task === undefined) return null;
  return isGroup(task) ? <GroupCard task={task} /> : <TaskCard task={task} column={column} />;
});

function TaskCard({ task, column }: { task: Task; column: Column }) {
  const { id, batch } = task;
  const chosen = useSelection((store) => store.chosen.has(id));
  const here = useShown((store) => store.cursor === id);
  const now = elsewhere(task, column);
  const tall = heightIn(column) !== SHORT;
  return (
    <CardFrame
      task={task}
      data-status={batch?.needsYou ? "asking" : batch?.status}
      data-chosen={chosen || undefined}
    >
      <CardName task={task} here={here} />
      <Check id={id} chosen={chosen} here={here} column={column} />
      {tall && <Happening task={task} now={now} />}
      {!tall && (now === null ? <Standing task={task} /> : <p className={styles.row}>{now}</p>)}
    </CardFrame>
  );
}

interface FrameProps {
  task: Task;
  children: ReactNode;
  "data-status"?: string | undefined;
  "data-group"?: string;
  "data-chosen"?: boolean | undefined;
}

/** All of a card opens its task, as its name does. */
export function CardFrame({ task, children, ...data }: FrameProps) {
  const opens = use(Opens);
  const open = useShown((store) => store.open === task.id);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: by the keys its name is pressed, which is heard here
    <article
      className={styles.card}
      data-card={task.id}
      data-open={open || undefined}
      {...data}
      onClick={() => opens(task)}
    >
      {children}
    </article>
  );
}

export function CardName({ task, here }: { task: Task; here: boolean }) {
  const much = figures(task);
  return (
    <>
      <button
        type="button"
        className={styles.name}
        tabIndex={here ? 0 : -1}
        onFocus={() => setCursor(task.id)}
      >
        <span className={styles.id} dir="auto" style={{ paddingInlineEnd: 24 + much.length * 7 }}>
          {clipped(task.id)}
        </span>{" "}
        <span className={styles.title} dir="auto" title={clipped(task.title)}>
          {clipped(task.title)}
        </span>
      </button>
      {much !== "" && <span className={styles.figures}>{much}</span>}
    </>
  );
}

function Check({ id, chosen, here, column }: { id: string; chosen: boolean; here: boolean; column: Column }) {
  const changed = ({ nativeEvent }: ChangeEvent) => {
    const range = nativeEvent instanceof MouseEvent && nativeEvent.shiftKey;
    if (range) choosePast(id, selectable(useShown.getState().columns[column]));
    else toggle(id);
  };
  return (
    <input
      type="checkbox"
      className={styles.check}
      aria-label={`Select ${clipped(id)}`}
      tabIndex={here ? 0 : -1}
      checked={chosen}
      onChange={changed}
      onClick={(event) => event.stopPropagation()}
      onFocus={() => setCursor(id)}
    />
  );
}

/** How far it is, what it needs and who does it. What has no room is left out from its end, and not cut to a letter. */
function About({ task, first, children }: { task: Task; first?: ReactNode; children?: ReactNode }) {
  const { needs } = task;
  const agent = agentOf(task);
  return (
    <p className={styles.row}>
      <span className={styles.fitting}>
        {first}
        {needs.length > 0 && (
          <span className={styles.fixed} title={`needs ${needNames(task)}`}>
            needs {needs.length}
            <span className="unseen">: {needNames(task)}</span>
          </span>
        )}
        {agent !== "" && (
          <span className={styles.agent} title={clipped(agent)} dir="auto">
            {clipped(agent)}
          </span>
        )}
      </span>
      {children}
    </p>
  );
}

const MOST_NAMED = 20;

function needNames({ needs }: Task): string {
  const named = needs.slice(0, MOST_NAMED).map((need) => clipped(need.id));
  return needs.length > MOST_NAMED ? `${named.join(", ")} and more` : named.join(", ");
}

function File({ task }: { task: Task }) {
  if (task.source === null) return null;
  return (
    <span className={styles.file} title={task.source} dir="auto">
      {clipped(fileOf(task))}
    </span>
  );
}

/** Nothing has happened yet, or nothing that counts any more. */
function Standing({ task }: { task: Task }) {
  const first = (
    <>
      {task.batch !== null && <TaskBadge status={task.batch.status} />}
      <File task={task} />
    </>
  );
  return <About task={task} first={first} />;
}

/** What became of it: its status and how long, then what it does or why it stands still. */
function Happening({ task, now }: { task: Task; now: string | null }) {
  const { batch } = task;
  const activity = useBoard(({ board }) =>
    batch === null ? undefined : board.activity.get(runKey(batch.batchId, batch.taskId)),
  );
  const said = now ?? line(task, activity);
  const first = batch !== null && (
    <>
      <TaskBadge status={batch.status} />
      {batch.attempt > 1 && <span className={styles.fixed}>attempt {batch.attempt}</span>}
    </>
  );
  return (
    <>
      <About task={task} first={first}>
        {batch?.startedAt && <Lasts from={batch.startedAt} to={batch.completedAt} />}
      </About>
      <p className={styles.fitting}>
        {said !== "" && (
          <span className={now === null ? styles.said : styles.moved} title={said} dir="auto">
            {said}
          </span>
        )}
        <File task={task} />
      </p>
    </>
  );
}

/** How much it changed and cost; nothing before there is something to say. */
function figures({ batch }: Task): string {
  if (batch === null) return "";
  const { diffstat } = batch;
  return [diffstat === null || diffstat.files === 0 ? "" : changes(diffstat), cost(batch.cost)]
    .filter(Boolean)
    .join("  ");
}

function Lasts({ from, to }: { from: string; to: string | null }) {
  const now = useNow(to === null);
  return <span className={styles.lasts}>{duration(elapsed(from, to, now))}</span>;
}
