import type { TaskStatus } from "../api/types";
import { word } from "../parts/Status";

/** A task as it is read out: what is seen of it first, in that order. */
export function taskName(id: string, status: TaskStatus, title: string): string {
  return [id, word(status), ...(title === "" || title === id ? [] : [title])].join(", ");
}
