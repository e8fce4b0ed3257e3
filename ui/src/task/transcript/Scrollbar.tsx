import { type PointerEvent, useRef, useState } from "react";
import styles from "./Transcript.module.css";
import { ROW_HEIGHT, type TranscriptWindow } from "./transcriptWindow";

const MIN_THUMB = 28; // px

interface Props {
  shown: TranscriptWindow;
  height: number;
  controls: string;
}

/** A scrollbar by bytes, since the number of lines is unknown. */
export function Scrollbar({ shown, height, controls }: Props) {
  const [dragged, setDragged] = useState<number | null>(null);
  const wanted = useRef<number | null>(null);
  const scrolling = useRef(false);
  const { view } = shown;
  const [top, bottom] = [
    shown.byteAt(shown.top() / ROW_HEIGHT),
    shown.byteAt((shown.top() + height) / ROW_HEIGHT),
  ];
  const scrollable = Math.max(1, view.size - (bottom - top));
  const fits = view.total * ROW_HEIGHT <= height && bottom - top >= view.size - 1;
  if (fits || view.size === 0) return null;
  const position = dragged ?? (view.following ? 1 : Math.min(1, top / scrollable));
  const thumb = Math.max(MIN_THUMB, ((bottom - top) / view.size) * height);

  const scrollTo = async (to: number) => {
    wanted.current = to;
    if (scrolling.current) return;
    scrolling.current = true;
    while (wanted.current !== null) {
      const next: number = wanted.current;
      wanted.current = null;
      await (next > 0.999 ? shown.jumpToEnd() : shown.jumpTo(next * scrollable));
    }
    scrolling.current = false;
  };
  const drag = (event: PointerEvent<HTMLDivElement>) => {
    const box = event.currentTarget.getBoundingClientRect();
    const to = (event.clientY - box.top - thumb / 2) / Math.max(1, box.height - thumb);
    const clamped = Math.min(1, Math.max(0, to));
    setDragged(clamped);
    void scrollTo(clamped);
  };
  return (
    <div
      role="scrollbar"
      className={styles.scrollbar}
      aria-label="Position in the transcript"
      aria-orientation="vertical"
      aria-controls={controls}
      aria-valuemin={0}
      aria-valuemax={100}
      aria-valuenow={Math.round(position * 100)}
      tabIndex={-1}
      onPointerDown={(event) => {
        event.currentTarget.setPointerCapture(event.pointerId);
        drag(event);
      }}
      onPointerMove={(event) => dragged !== null && drag(event)}
      onPointerUp={() => setDragged(null)}
      onPointerCancel={() => setDragged(null)}
    >
      <div className={styles.thumb} style={{ height: thumb, top: position * Math.max(0, height - thumb) }} />
    </div>
  );
}
