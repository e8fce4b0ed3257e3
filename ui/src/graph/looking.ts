/* What a person looks at in the graph: the task that has the keyboard, what is under the pointer, what was searched for. */

import { create } from "zustand";

interface GraphFocus {
  /** The one task that Tab leads to. */
  readonly current: string | null;
  /** `current` is to have the focus as soon as it is drawn. */
  readonly takeFocus: boolean;
  readonly hovered: string | null;
  readonly hoveredEdge: string | null;
  /** `null`: nothing is searched for. */
  readonly matches: ReadonlySet<string> | null;
}

const NO_FOCUS: GraphFocus = {
  current: null,
  takeFocus: false,
  hovered: null,
  hoveredEdge: null,
  matches: null,
};

export const useGraphFocus = create<GraphFocus>(() => NO_FOCUS);

export function setGraphFocus(change: Partial<GraphFocus>): void {
  useGraphFocus.setState(change);
}

export function resetGraphFocus(): void {
  useGraphFocus.setState(NO_FOCUS);
}
