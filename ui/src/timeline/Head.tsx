import type { RefObject } from "react";
import { localZone, ticks } from "./axis";
import { Bars } from "./Bars";
import styles from "./Gantt.module.css";
import { type Chart, lanes } from "./layout";

const AXIS = 26;
const LANE = 26;

export function headHeight({ own }: Chart): number {
  return AXIS + lanes(own).length * LANE;
}

interface Props {
  chart: Chart;
  /** Of the line, in px. */
  width: number;
  track: RefObject<HTMLDivElement | null>;
  press(): void;
  look(words: string | null): void;
}

/** The clock, and what the whole batch went through. It stays in sight. */
export function Head({ chart, width, track, press, look }: Props) {
  const own = lanes(chart.own);
  return (
    <div className={styles.head} style={{ height: headHeight(chart) }}>
      <div ref={track} className={styles.track}>
        <Axis chart={chart} width={width} />
        {own.map((lane, at) => (
          <ul
            key={lane[0]?.key}
            className={styles.own}
            style={{ top: AXIS + at * LANE }}
            aria-label="Of the whole batch"
          >
            <Bars frame={chart} bars={lane} current="all" press={press} look={look} />
          </ul>
        ))}
      </div>
      <span className={styles.corner}>{own.length > 0 && "Batch"}</span>
    </div>
  );
}

function Axis({ chart: { from, to }, width }: Pick<Props, "chart" | "width">) {
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
