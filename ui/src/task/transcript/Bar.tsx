import { type PointerEvent, useRef, useState } from "react";
import styles from "./Transcript.module.css";
import { ROW, type Window } from "./window";

const SMALLEST = 28; // px

interface Props {
  shown: Window;
  height: number;
  controls: string;
}

/** Where in all of the transcript one is, by bytes: how many lines it has, nobody knows. */
export function Bar({ shown, height, controls }: Props) {
  const [dragged, setDragged] = useState<number | null>(null);
  const wanted = useRef<number | null>(null);
  const going = useRef(false);
  const { view } = shown;
  const [top, bottom] = [shown.byte(shown.top() / ROW), shown.byte((shown.top() + height) / ROW)];
  const rest = Math.max(1, view.size - (bottom - top));
  const whole = view.total * ROW <= height && bottom - top >= view.size - 1;
  if (whole || view.size === 0) return null;
  const share = dragged ?? (view.follows ? 1 : Math.min(1, top / rest));
  const thumb = Math.max(SMALLEST, ((bottom - top) / view.size) * height);

  const go = async (to: number) => {
    wanted.current = to;
    if (going.current) return;
    going.current = true;
    while (wanted.current !== null) {
      const next: number = wanted.current;
      wanted.current = null;
      await (next > 0.999 ? shown.end() : shown.to(next * rest));
    }
    going.current = false;
  };
  const drag = (event: PointerEvent<HTMLDivElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const to = (event.clientY - box.top - thumb / 2) / Math.max(1, box.height - thumb);
    const held = Math.min(1, Math.max(0, to));
    setDragged(held);
    void go(held);
  };
  return (
    <div
      role="scrollbar"
      className={styles.bar}
      aria-label="Place in the transcript"
      aria-orientation="vertical"
      aria-controls={controls}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(share * 100)}
      tabIndex={-1}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag(event);
      }}
      onPointerMove={(event) => dragged !== null && drag(event)}
      onPointerUp={() => setDragged(null)}
      onPointerCancel={() => setDragged(null)}
    >
      <div className={styles.thumb} style={{ height: thumb, top: share * Math.max(0, height - thumb) }} />
    </div>
  );
}
