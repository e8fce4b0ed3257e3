/* Renders a large picture in chunks, one per frame, so that the page stays responsive. */

import { useEffect, useRef, useState } from "react";

export interface RenderChunk {
  readonly key: string;
  /** How many items it renders. */
  readonly weight: number;
}

/**
 * The next step from `shown` to `wanted`. Parts that are no longer wanted disappear at once; of new or
 * changed parts, about `most` items are added, at least one part. It is complete when the result is `wanted`.
 */
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

/** The part of `wanted` to render in this frame. */
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
