/* What can be done with a task of the graph. */

import { createContext } from "react";
import type { Arrow } from "./walk";

export interface GraphActions {
  open(id: string): void;
  /** To the task that an arrow leads to. */
  moveTo(from: string, arrow: Arrow): void;
}

export const GraphActionsContext = createContext<GraphActions>({
  open: () => undefined,
  moveTo: () => undefined,
});
