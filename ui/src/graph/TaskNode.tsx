import { type NodeProps, useStore } from "@xyflow/react";
import { type CSSProperties, memo, useContext, useEffect, useRef } from "react";
import { classes } from "../parts/classes";
import { TaskMark, taskTone, word } from "../parts/Status";
import { Acts } from "./acts";
import type { GraphNode, TaskElement, WaveElement } from "./elements";
import styles from "./Flow.module.css";
import { lookAt, useLooking } from "./looking";
import { taskName } from "./named";
import { isArrow } from "./walk";

const LEGIBLE = 0.35; // a zoom: below it nobody reads anything, and a thousand tasks are seen at once

/** A task in the graph. Only one of them is in the order of Tab; arrows lead to the others. */
export const TaskNode = memo(function TaskNode({ id, data: { node, critical } }: NodeProps<TaskElement>) {
  const { open, walk } = useContext(Acts);
  const button = useRef<HTMLButtonElement>(null);
  const current = useLooking((looking) => looking.current === id);
  const take = useLooking((looking) => looking.current === id && looking.take);
  const found = useLooking((looking) => looking.found?.has(id) ?? false);
  const tone = taskTone(node.status);
  const far = useStore(({ transform: [, , zoom] }) => zoom < LEGIBLE);
  useEffect(() => {
    if (!take) return;
    button.current?.focus({ preventScroll: true });
    lookAt({ take: false });
  }, [take]);
  return (
    <button
      ref={button}
      type="button"
      className={classes(styles.task, critical && styles.critical, found && styles.found)}
      data-far={far ? tone : undefined}
      style={far ? ({ "--tone": `var(--${tone})` } as CSSProperties) : undefined}
      aria-label={far ? taskName(id, node.status, node.title) : undefined}
      tabIndex={current ? 0 : -1}
      onClick={() => open(id)}
      onFocus={() => lookAt({ current: id, over: id })}
      onBlur={() => lookAt({ over: null })}
      onKeyDown={(event) => {
        if (!isArrow(event.key)) return;
        event.preventDefault();
        walk(id, event.key);
      }}
    >
      {!far && <Words id={id} node={node} />}
    </button>
  );
});

function Words({ id, node: { status, title } }: { id: string; node: GraphNode }) {
  return (
    <>
      <span className={styles.line}>
        <span className={styles.mark} aria-hidden="true">
          <TaskMark status={status} />
        </span>
        <span className={styles.id}>{id}</span>
        <span className={styles.status}>{word(status)}</span>
      </span>
      {title !== id && <span className={styles.title}>{title}</span>}
    </>
  );
}

export const WaveNode = memo(function WaveNode({ data: { wave, tasks } }: NodeProps<WaveElement>) {
  return (
    <div className={styles.wave}>
      Wave {wave}
      <span className={styles.count}>{tasks}</span>
    </div>
  );
});
