import { type CSSProperties, memo, useContext, useEffect, useRef } from "react";
import { classNames } from "../parts/classes";
import { statusText, TaskStatusIcon, taskTone } from "../parts/Status";
import { GraphActionsContext } from "./acts";
import type { GraphNode } from "./elements";
import styles from "./Flow.module.css";
import { NODE, type Point } from "./layout";
import { setGraphFocus } from "./looking";
import { taskLabel } from "./named";
import { isArrow } from "./walk";

interface TaskNodeProps {
  node: GraphNode;
  place: Point;
  critical: boolean;
  matched: boolean;
  far: boolean;
  current: boolean;
  /** It is to have the focus. */
  takeFocus: boolean;
}

/** A task in the graph. Only one of them is in the order of Tab; arrows lead to the others. */
export const TaskNode = memo(function TaskNode({
  node,
  place,
  critical,
  matched,
  far,
  current,
  takeFocus,
}: TaskNodeProps) {
  const { taskId: id, status, title } = node;
  const { open, moveTo } = useContext(GraphActionsContext);
  const button = useRef<HTMLButtonElement>(null);
  const tone = taskTone(status);
  useEffect(() => {
    if (!takeFocus) return;
    button.current?.focus({ preventScroll: true });
    setGraphFocus({ takeFocus: false });
  }, [takeFocus]);
  return (
    <button
      ref={button}
      type="button"
      className={classNames(styles.task, critical && styles.critical, matched && styles.found)}
      data-far={far ? tone : undefined}
      style={{ left: place.x, top: place.y, ...NODE, "--tone": `var(--${tone})` } as CSSProperties}
      aria-label={far ? taskLabel(id, status, title) : undefined}
      tabIndex={current ? 0 : -1}
      onClick={() => open(id)}
      onFocus={() => setGraphFocus({ current: id, hovered: id })}
      onBlur={() => setGraphFocus({ hovered: null })}
      onMouseEnter={() => setGraphFocus({ hovered: id })}
      onMouseLeave={() => setGraphFocus({ hovered: null })}
      onKeyDown={(event) => {
        if (!isArrow(event.key)) return;
        event.preventDefault();
        moveTo(id, event.key);
      }}
    >
      {!far && <NodeText node={node} />}
    </button>
  );
});

function NodeText({ node: { taskId, status, title } }: { node: GraphNode }) {
  return (
    <>
      <span className={styles.line}>
        <span className={styles.mark} aria-hidden="true">
          <TaskStatusIcon status={status} />
        </span>
        <span className={styles.id}>{taskId}</span>
        <span className={styles.status}>{statusText(status)}</span>
      </span>
      {title !== taskId && <span className={styles.title}>{title}</span>}
    </>
  );
}
