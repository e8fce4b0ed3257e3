import { useStore, ViewportPortal } from "@xyflow/react";
import { memo, useMemo } from "react";
import { shallow } from "zustand/shallow";
import type { Graph } from "../api/types";
import type { GraphNode } from "./elements";
import styles from "./Flow.module.css";
import type { Layout } from "./layout";
import { useLooking } from "./looking";
import { useShares } from "./shares";
import { TaskNode } from "./TaskNode";
import { headOf, inView, type Tile, tilesOf, viewOf } from "./tiles";

const LEGIBLE = 0.35; // a zoom: below it nobody reads anything, and a thousand tasks are seen at once
const SHARE = 80;

/** The tasks that are in view, and the heads of their waves. */
export function Tasks({ graph, layout }: { graph: Graph; layout: Layout }) {
  const { nodes, criticalPath, waves } = graph;
  const near = useMemo(() => tilesOf(layout, false), [layout]);
  const far = useMemo(() => tilesOf(layout, true), [layout]);
  const seen = useStore(
    ({ transform, width, height }) =>
      inView(transform[2] < LEGIBLE ? far : near, viewOf(transform, width, height)),
    shallow,
  );
  const tiles = useShares(seen, SHARE);
  const byId = useMemo(() => new Map(nodes.map((node) => [node.taskId, node])), [nodes]);
  const path = useMemo(() => new Set(criticalPath), [criticalPath]);
  return (
    <ViewportPortal>
      {tiles.map((tile) => (
        <Drawn key={tile.key} tile={tile} byId={byId} path={path} waves={waves} />
      ))}
    </ViewportPortal>
  );
}

interface DrawnProps {
  tile: Tile;
  byId: ReadonlyMap<string, GraphNode>;
  path: ReadonlySet<string>;
  waves: Graph["waves"];
}

const Drawn = memo(function Drawn({ tile: { tasks, heads, far }, byId, path, waves }: DrawnProps) {
  const found = useLooking((looking) => looking.found);
  const current = useLooking((looking) => looking.current);
  const take = useLooking((looking) => looking.take);
  return (
    <>
      {heads.map((band) => {
        const { x, y, ...size } = headOf(band);
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
        const mine = current === id;
        return (
          <TaskNode
            key={id}
            node={node}
            place={place}
            critical={path.has(id)}
            found={found?.has(id) ?? false}
            far={far}
            current={mine}
            take={mine && take}
          />
        );
      })}
    </>
  );
});
