/* Renders a large picture in chunks, one per frame, so that the page stays responsive. */

import { useEffect, useRef, useState } from "react";

export interface RenderChunk {
  readonly key: string;
  /** How many things it draws. */
  readonly weight: number;
}

/** The next picture on the way from `shown` to `wanted`. What is not wanted any more goes at once; of what is new, or
    other than it was, there is about as much as `most`, and one part at least. Nothing is left to do when it is `wanted`. */
export function nextChunks<T extends RenderChunk>(
  shown: readonly T[],
  wanted: readonly T[],
  limit: number,
): readonly T[] {
  const before = new Map(shown.map((chunk) => [chunk.key, chunk]));
  let drawn = 0;
  let complete = true;
  const chunks = wanted.flatMap((chunk) => {
    const old = before.get(chunk.key);
    if (old === chunk) return [chunk];
    if (drawn < limit) {
      drawn += chunk.weight;
      return [chunk];
    }
    complete = false;
    return old === undefined ? [] : [old];
  });
  return complete ? wanted : chunks;
}

/** `wanted`, as far as it is drawn yet: a share with each frame. */
export function useProgressiveRender<T extends RenderChunk>(
  wanted: readonly T[],
  limit: number,
): readonly T[] {
  const [shown, setShown] = useState(() => nextChunks([], wanted, limit));
  const latest = useRef(wanted);
  latest.current = wanted;
  const complete = shown === wanted;
  useEffect(() => {
    if (complete) return;
    const frame = requestAnimationFrame(() => setShown(nextChunks(shown, latest.current, limit)));
    return () => cancelAnimationFrame(frame);
  }, [complete, shown, limit]);
  return shown;
}
