import { type CSSProperties, memo, useContext, useEffect, useRef } from "react";
import { classes } from "../parts/classes";
import { TaskMark, taskTone, word } from "../parts/Status";
import { Acts } from "./acts";
import type { GraphNode } from "./elements";
import styles from "./Flow.module.css";
import { NODE, type Point } from "./layout";
import { lookAt } from "./looking";
import { taskName } from "./named";
import { isArrow } from "./walk";

interface Props {
  node: GraphNode;
  place: Point;
  critical: boolean;
  found: boolean;
  far: boolean;
  current: boolean;
  /** It is to have the focus. */
  take: boolean;
}

/** A task in the graph. Only one of them is in the order of Tab; arrows lead to the others. */
export const TaskNode = memo(function TaskNode({ node, place, critical, found, far, current, take }: Props) {
  const { taskId: id, status, title } = node;
  const { open, walk } = useContext(Acts);
  const button = useRef<HTMLButtonElement>(null);
  const tone = taskTone(status);
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
      style={{ left: place.x, top: place.y, ...NODE, "--tone": `var(--${tone})` } as CSSProperties}
      aria-label={far ? taskName(id, status, title) : undefined}
      tabIndex={current ? 0 : -1}
      onClick={() => open(id)}
      onFocus={() => lookAt({ current: id, over: id })}
      onBlur={() => lookAt({ over: null })}
      onMouseEnter={() => lookAt({ over: id })}
      onMouseLeave={() => lookAt({ over: null })}
      onKeyDown={(event) => {
        if (!isArrow(event.key)) return;
        event.preventDefault();
        walk(id, event.key);
      }}
    >
      {!far && <Words node={node} />}
    </button>
  );
});

function Words({ node: { taskId, status, title } }: { node: GraphNode }) {
  return (
    <>
      <span className={styles.line}>
        <span className={styles.mark} aria-hidden="true">
          <TaskMark status={status} />
        </span>
        <span className={styles.id}>{taskId}</span>
        <span className={styles.status}>{word(status)}</span>
      </span>
      {title !== taskId && <span className={styles.title}>{title}</span>}
    </>
  );
}
