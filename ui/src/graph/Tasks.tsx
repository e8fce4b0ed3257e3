import { useStore, ViewportPortal } from "@xyflow/react";
import { memo, useMemo } from "react";
import { shallow } from "zustand/shallow";
import type { Graph } from "../api/types";
import type { GraphNode } from "./elements";
import styles from "./Flow.module.css";
import type { Layout } from "./layout";
import { useGraphFocus } from "./looking";
import { useProgressiveRender } from "./shares";
import { TaskNode } from "./TaskNode";
import { buildTiles, headingRect, type Tile, visibleRect, visibleTiles } from "./tiles";

const LEGIBLE_ZOOM = 0.35; // a zoom: below it nobody reads anything, and a thousand tasks are seen at once
const NODES_PER_CHUNK = 80;

/** The tasks that are in view, and the heads of their waves. */
export function TaskNodes({ graph, layout }: { graph: Graph; layout: Layout }) {
  const { nodes, criticalPath, waves } = graph;
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
        <TileNodes key={tile.key} tile={tile} byId={byId} criticalIds={criticalIds} waves={waves} />
      ))}
    </ViewportPortal>
  );
}

interface TileNodesProps {
  tile: Tile;
  byId: ReadonlyMap<string, GraphNode>;
  criticalIds: ReadonlySet<string>;
  waves: Graph["waves"];
}

const TileNodes = memo(function Drawn({
  tile: { tasks, headings, far },
  byId,
  criticalIds,
  waves,
}: TileNodesProps) {
  const matches = useGraphFocus((looking) => looking.matches);
  const current = useGraphFocus((looking) => looking.current);
  const take = useGraphFocus((looking) => looking.takeFocus);
  return (
    <>
      {headings.map((band) => {
        const { x, y, ...size } = headingRect(band);
        return (
          <div key={band.wave} className={styles.wave} style={{ left: x, top: y, ...size }}>
            Wave {band.wave}
            <span className={styles.count}>{waves[band.wave - 1]?.length ?? 0}</span>
          </div>
        );
      })}
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
