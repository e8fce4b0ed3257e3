import type { TaskStatus } from "../api/types";
import { statusText } from "../parts/Status";

/** A task as it is read out: what is seen of it first, in that order. */
export function taskLabel(id: string, status: TaskStatus, title: string): string {
  return [id, statusText(status), ...(title === "" || title === id ? [] : [title])].join(", ");
}
