import { createContext } from "react";
import type { Task } from "../api/types";

/** Opens a task's panel. Never another function, so that no card is drawn again for it. */
export const OpenTaskContext = createContext<(task: Task) => void>(() => undefined);
