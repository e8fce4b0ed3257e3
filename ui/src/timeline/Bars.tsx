import type { CSSProperties } from "react";
import { localZone } from "./axis";
import styles from "./Gantt.module.css";
import type { Bar, Chart, Gap } from "./layout";
import { barWords, gapWords, mood, type NAMES } from "./words";

export const LETTERS: Record<keyof typeof NAMES, string> = {
  write: "W",
  verify: "V",
  merge: "M",
  gate: "G",
  pause: "P",
  rebuild: "R",
  publish: "S",
};

type Frame = Pick<Chart, "from" | "to">;

/** In shares of the line, so that nothing is drawn anew when the window changes. */
function placed(frame: Frame, from: number, to: number): CSSProperties {
  const share = 100 / (frame.to - frame.from);
  return { left: `${(from - frame.from) * share}%`, width: `${(to - from) * share}%` };
}

interface BarsProps {
  frame: Frame;
  bars: readonly Bar[];
  /** Which of them Tab leads to. */
  current: number | "all" | null;
  press(bar: Bar): void;
  look(words: string | null, place: number): void;
}

export function Bars({ frame, bars, current, press, look }: BarsProps) {
  return bars.map((bar, at) => {
    const words = barWords(bar, localZone);
    const { kind, n } = bar.span;
    const went = mood(bar);
    const numbered = n !== null && kind !== "merge" && kind !== "publish";
    return (
      <li key={bar.key} className={styles.slot} style={placed(frame, bar.from, bar.to)}>
        <button
          type="button"
          className={styles.bar}
          data-kind={kind}
          data-mood={went}
          data-letter={`${went === "bad" ? "✕ " : ""}${LETTERS[kind]}${numbered ? n : ""}`}
          data-place={at + 1}
          tabIndex={current === "all" || current === at + 1 ? 0 : -1}
          aria-label={words}
          title={words}
          onClick={() => press(bar)}
          onFocus={() => look(words, at + 1)}
          onBlur={() => look(null, at + 1)}
          onMouseEnter={() => look(words, -1)}
          onMouseLeave={() => look(null, -1)}
        />
      </li>
    );
  });
}

export function Gaps({ frame, gaps }: { frame: Frame; gaps: readonly Gap[] }) {
  return gaps.map((gap) => {
    const words = gapWords(gap, localZone);
    return (
      <li
        key={`${gap.from} ${gap.backoff === null}`}
        className={gap.backoff === null ? styles.wait : styles.backoff}
        style={placed(frame, gap.from, gap.to)}
        title={words}
      >
        <span className="unseen">{words}</span>
      </li>
    );
  });
}
