/* Files that were viewed, by name and content: a file that changes again is to be viewed again. Stored in the browser. */

import { create } from "zustand";
import { loadList, saveItem } from "../store/browserStorage";
import type { FileChange } from "./parseDiff";

const KEY = "plait.diff.viewed";
const MAX_FILES = 3000; // the oldest marks are dropped

export const useViewedFiles = create<{ viewed: ReadonlySet<string> }>(() => ({
  viewed: new Set(loadList(KEY)),
}));

/** Identifies a change of a file: both blobs, or both names if its content is unchanged. */
export function viewedKey({ path, before, blobs }: Pick<FileChange, "path" | "before" | "blobs">): string {
  return [path, blobs ?? before ?? ""].join("\n");
}

export function setViewed(file: FileChange, on: boolean): void {
  const key = viewedKey(file);
  const others = [...useViewedFiles.getState().viewed].filter((each) => each !== key);
  const next = on ? [...others, key].slice(-MAX_FILES) : others;
  saveItem(KEY, JSON.stringify(next));
  useViewedFiles.setState({ viewed: new Set(next) });
}
