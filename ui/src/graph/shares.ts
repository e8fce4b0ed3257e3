/* Drawing much a share at a time, so that the page goes on answering meanwhile. */

import { useEffect, useRef, useState } from "react";

export interface Part {
  readonly key: string;
  /** How many things it draws. */
  readonly weight: number;
}

/** The next picture on the way from `shown` to `wanted`. What is not wanted any more goes at once; of what is new, or
    other than it was, there is about as much as `most`, and one part at least. Nothing is left to do when it is `wanted`. */
export function nextShare<T extends Part>(
  shown: readonly T[],
  wanted: readonly T[],
  most: number,
): readonly T[] {
  const before = new Map(shown.map((part) => [part.key, part]));
  let drawn = 0;
  let whole = true;
  const parts = wanted.flatMap((part) => {
    const old = before.get(part.key);
    if (old === part) return [part];
    if (drawn < most) {
      drawn += part.weight;
      return [part];
    }
    whole = false;
    return old === undefined ? [] : [old];
  });
  return whole ? wanted : parts;
}

/** `wanted`, as far as it is drawn yet: a share with each frame. */
export function useShares<T extends Part>(wanted: readonly T[], most: number): readonly T[] {
  const [shown, setShown] = useState(() => nextShare([], wanted, most));
  const latest = useRef(wanted);
  latest.current = wanted;
  const whole = shown === wanted;
  useEffect(() => {
    if (whole) return;
    const frame = requestAnimationFrame(() => setShown(nextShare(shown, latest.current, most)));
    return () => cancelAnimationFrame(frame);
  }, [whole, shown, most]);
  return shown;
}
