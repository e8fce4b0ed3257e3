import type { RefObject } from "react";
import { localZone, ticks } from "./axis";
import { Bars } from "./Bars";
import styles from "./Gantt.module.css";
import { type Chart, packLanes } from "./layout";

const AXIS_HEIGHT = 26;
const LANE_HEIGHT = 26;

export function headerHeight({ batchBars }: Chart): number {
  return AXIS_HEIGHT + packLanes(batchBars).length * LANE_HEIGHT;
}

interface GanttHeaderProps {
  chart: Chart;
  /** Of the line, in px. */
  width: number;
  track: RefObject<HTMLDivElement | null>;
  onPress(): void;
  onHover(words: string | null): void;
}

/** The clock, and what the whole batch went through. It stays in sight. */
export function GanttHeader({ chart, width, track, onPress, onHover }: GanttHeaderProps) {
  const own = packLanes(chart.batchBars);
  return (
    <div className={styles.head} style={{ height: headerHeight(chart) }}>
      <div ref={track} className={styles.track}>
        <Axis chart={chart} width={width} />
        {own.map((lane, at) => (
          <ul
            key={lane[0]?.key}
            className={styles.own}
            style={{ top: AXIS_HEIGHT + at * LANE_HEIGHT }}
            aria-label="Of the whole batch"
          >
            <Bars frame={chart} bars={lane} current="all" onPress={onPress} onHover={onHover} />
          </ul>
        ))}
      </div>
      <span className={styles.corner}>{own.length > 0 && "Batch"}</span>
    </div>
  );
}

function Axis({ chart: { from, to }, width }: Pick<GanttHeaderProps, "chart" | "width">) {
  return (
    <div className={styles.axis} aria-hidden="true">
      {ticks(from, to, width, localZone).map(({ at, label }) => (
        <span key={at} className={styles.tick} style={{ left: `${((at - from) / (to - from)) * 100}%` }}>
          {label}
        </span>
      ))}
    </div>
  );
}
