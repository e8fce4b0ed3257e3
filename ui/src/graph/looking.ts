/* What a person looks at in the graph: the task that has the keyboard, what is under the pointer, what was searched for. */

import { create } from "zustand";

interface Looking {
  /** The one task that Tab leads to. */
  readonly current: string | null;
  /** `current` is to have the focus as soon as it is drawn. */
  readonly take: boolean;
  readonly over: string | null;
  readonly line: string | null;
  /** `null`: nothing is searched for. */
  readonly found: ReadonlySet<string> | null;
}

const NOTHING: Looking = { current: null, take: false, over: null, line: null, found: null };

export const useLooking = create<Looking>(() => NOTHING);

export function lookAt(change: Partial<Looking>): void {
  useLooking.setState(change);
}

export function lookAway(): void {
  useLooking.setState(NOTHING);
}
