/* What can be done with a task of the graph. */

import { createContext } from "react";
import type { Arrow } from "./walk";

export interface GraphActs {
  open(id: string): void;
  /** To the task that an arrow leads to. */
  walk(from: string, arrow: Arrow): void;
}

export const Acts = createContext<GraphActs>({ open: () => undefined, walk: () => undefined });
