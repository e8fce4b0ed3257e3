import { useStore, ViewportPortal } from "@xyflow/react";
import { type CSSProperties, createContext, memo, useContext, useEffect, useMemo, useRef } from "react";
import { shallow } from "zustand/shallow";
import type { Graph } from "../api/types";
import { classNames } from "../components/classNames";
import { statusText, TaskStatusIcon, taskLabel, taskTone } from "../components/Status";
import { spellOutBidi } from "../model/format";
import type { GraphNode } from "./edges";
import styles from "./GraphCanvas.module.css";
import { type Layout, NODE, type Point } from "./geometry";
import { type Arrow, isArrow, setGraphFocus, useGraphFocus } from "./graphFocus";
import { useProgressiveRender } from "./progressiveRender";
import { buildTiles, type Tile, visibleRect, visibleTiles } from "./viewportCulling";

const LEGIBLE_ZOOM = 0.35; // zoom below which text is unreadable and is not rendered
const NODES_PER_CHUNK = 80;

/** The visible tasks. */
export function TaskNodes({ graph, layout }: { graph: Graph; layout: Layout }) {
  const { nodes, criticalPath } = graph;
  const near = useMemo(() => buildTiles(layout, false), [layout]);
  const far = useMemo(() => buildTiles(layout, true), [layout]);
  const visible = useStore(
    ({ transform, width, height }) =>
      visibleTiles(transform[2] < LEGIBLE_ZOOM ? far : near, visibleRect(transform, width, height)),
    shallow,
  );
  const tiles = useProgressiveRender(visible, NODES_PER_CHUNK);
  const byId = useMemo(() => new Map(nodes.map((node) => [node.taskId, node])), [nodes]);
  const criticalIds = useMemo(() => new Set(criticalPath), [criticalPath]);
  return (
    <ViewportPortal>
      {tiles.map((tile) => (
        <TileNodes key={tile.key} tile={tile} byId={byId} criticalIds={criticalIds} />
      ))}
    </ViewportPortal>
  );
}

interface TileNodesProps {
  tile: Tile;
  byId: ReadonlyMap<string, GraphNode>;
  criticalIds: ReadonlySet<string>;
}

const TileNodes = memo(function TileNodes({ tile: { tasks, far }, byId, criticalIds }: TileNodesProps) {
  const matches = useGraphFocus((focus) => focus.matches);
  const current = useGraphFocus((focus) => focus.current);
  const take = useGraphFocus((focus) => focus.takeFocus);
  return (
    <>
      {tasks.map(({ id, place }) => {
        const node = byId.get(id);
        if (node === undefined) return null;
        const isCurrent = current === id;
        return (
          <TaskNode
            key={id}
            node={node}
            place={place}
            critical={criticalIds.has(id)}
            matched={matches?.has(id) ?? false}
            far={far}
            current={isCurrent}
            takeFocus={isCurrent && take}
          />
        );
      })}
    </>
  );
});

interface TaskNodeProps {
  node: GraphNode;
  place: Point;
  critical: boolean;
  matched: boolean;
  far: boolean;
  current: boolean;
  /** It should get the focus. */
  takeFocus: boolean;
}

/** A task in the graph. Only one is in the tab order; arrows lead to the others. */
const TaskNode = memo(function TaskNode({
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
  const inChain = useGraphFocus(({ chain }) => chain?.has(id) ?? false);
  useEffect(() => {
    if (!takeFocus) return;
    button.current?.focus({ preventScroll: true });
    setGraphFocus({ takeFocus: false });
  }, [takeFocus]);
  return (
    <button
      ref={button}
      type="button"
      className={classNames(styles.node, critical && styles.critical, matched && styles.matched)}
      data-far={far ? tone : undefined}
      data-chained={inChain || undefined}
      style={{ left: place.x, top: place.y, ...NODE, "--tone": `var(--${tone})` } as CSSProperties}
      aria-label={far ? taskLabel(id, status, title) : undefined}
      title={title === id ? undefined : spellOutBidi(title)}
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
      <span className={styles.firstLine}>
        <span className={styles.mark} aria-hidden="true">
          <TaskStatusIcon status={status} />
        </span>
        <span className={styles.id}>{taskId}</span>
        <span className={styles.status}>{statusText(status)}</span>
      </span>
      {title !== taskId && <span className={styles.title}>{spellOutBidi(title)}</span>}
    </>
  );
}

interface GraphActions {
  open(id: string): void;
  /** Moves to the task in the arrow's direction. */
  moveTo(from: string, arrow: Arrow): void;
}

export const GraphActionsContext = createContext<GraphActions>({
  open: () => undefined,
  moveTo: () => undefined,
});
