/* Phases as bands behind their tasks, and headers that stay in view: waves at the top, phases at their bands. */

import { useStore, ViewportPortal } from "@xyflow/react";
import { memo } from "react";
import { shallow } from "zustand/shallow";
import type { Graph } from "../api/types";
import { COLUMN_WIDTH, NODE, type PhaseBand } from "./geometry";
import styles from "./PhaseBands.module.css";

const HEADER_HEIGHT = 28; // as in the CSS
const PHASE_HEIGHT = 22;
const MIN_WIDTH = { number: 16, text: 64 }; // px for the number of a wave, and for all of its header

export const PhaseBands = memo(function PhaseBands({ bands }: { bands: readonly PhaseBand[] }) {
  return (
    <ViewportPortal>
      {bands.map(({ title, x, y, width, height }) => (
        <div
          key={`${x} ${y}`}
          className={styles.band}
          data-phase={title}
          style={{ left: x, top: y, width, height }}
        />
      ))}
    </ViewportPortal>
  );
});

interface Props {
  waves: Graph["waves"];
  bands: readonly PhaseBand[];
}

export function StickyHeaders({ waves, bands }: Props) {
  const [left, top, zoom, width] = useStore(
    ({ transform: [x, y, scale], width: all }) => [x, y, scale, all] as const,
    shallow,
  );
  const column = NODE.width * zoom;
  return (
    <div className={styles.headers}>
      {bands.map((band) => {
        const [from, to] = [left + band.x * zoom, left + (band.x + band.width) * zoom];
        const [start, end] = [top + band.y * zoom, top + (band.y + band.height) * zoom];
        if (to < MIN_WIDTH.text || from > width || end < HEADER_HEIGHT + PHASE_HEIGHT) return null;
        const x = Math.max(from, 0);
        const y = Math.min(Math.max(start, HEADER_HEIGHT), end - PHASE_HEIGHT);
        return (
          <div
            key={`${band.x} ${band.y}`}
            className={styles.phase}
            style={{ left: x, top: y, maxWidth: to - x }}
          >
            {band.title}
          </div>
        );
      })}
      <div className={styles.waves}>
        {waves.map((tasks, at) => {
          const x = left + at * COLUMN_WIDTH * zoom;
          if (column < MIN_WIDTH.number || x + column < 0 || x > width) return null;
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a wave is its number
            <div key={at} className={styles.wave} style={{ left: x, width: column }}>
              {column < MIN_WIDTH.text ? at + 1 : `Wave ${at + 1} `}
              {column >= MIN_WIDTH.text && <span className={styles.count}>{tasks.length}</span>}
            </div>
          );
        })}
      </div>
    </div>
  );
}
