import type { CSSProperties } from "react";
import { localZone } from "./axis";
import styles from "./Gantt.module.css";
import type { Bar, Chart, Gap } from "./layout";
import { barTone, describeBar, describeGap, type KIND_NAMES } from "./words";

export const KIND_LETTERS: Record<keyof typeof KIND_NAMES, string> = {
  write: "W",
  verify: "V",
  merge: "M",
  gate: "G",
  pause: "P",
  rebuild: "R",
  publish: "S",
};

type TimeRange = Pick<Chart, "from" | "to">;

/** In shares of the line, so that nothing is drawn anew when the window changes. */
function spanStyle(frame: TimeRange, from: number, to: number): CSSProperties {
  const share = 100 / (frame.to - frame.from);
  return { left: `${(from - frame.from) * share}%`, width: `${(to - from) * share}%` };
}

interface BarsProps {
  frame: TimeRange;
  bars: readonly Bar[];
  /** Which of them Tab leads to. */
  current: number | "all" | null;
  onPress(bar: Bar): void;
  onHover(words: string | null, place: number): void;
}

export function Bars({ frame, bars, current, onPress, onHover }: BarsProps) {
  return bars.map((bar, at) => {
    const label = describeBar(bar, localZone);
    const { kind, n } = bar.span;
    const tone = barTone(bar);
    const numbered = n !== null && kind !== "merge" && kind !== "publish";
    return (
      <li key={bar.key} className={styles.slot} style={spanStyle(frame, bar.from, bar.to)}>
        <button
          type="button"
          className={styles.bar}
          data-kind={kind}
          data-mood={tone}
          data-letter={`${tone === "bad" ? "✕ " : ""}${KIND_LETTERS[kind]}${numbered ? n : ""}`}
          data-place={at + 1}
          tabIndex={current === "all" || current === at + 1 ? 0 : -1}
          aria-label={label}
          title={label}
          onClick={() => onPress(bar)}
          onFocus={() => onHover(label, at + 1)}
          onBlur={() => onHover(null, at + 1)}
          onMouseEnter={() => onHover(label, -1)}
          onMouseLeave={() => onHover(null, -1)}
        />
      </li>
    );
  });
}

export function Gaps({ frame, gaps }: { frame: TimeRange; gaps: readonly Gap[] }) {
  return gaps.map((gap) => {
    const label = describeGap(gap, localZone);
    return (
      <li
        key={`${gap.from} ${gap.backoff === null}`}
        className={gap.backoff === null ? styles.wait : styles.backoff}
        style={spanStyle(frame, gap.from, gap.to)}
        title={label}
      >
        <span className="unseen">{label}</span>
      </li>
    );
  });
}
