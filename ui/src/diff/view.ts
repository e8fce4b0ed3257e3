/* How a person likes to see changes: kept by the browser, for all of them. */

import { create } from "zustand";
import { loadItem, saveItem } from "../store/browser";
import type { DiffMode } from "./rows";

const KEY = "plait.diff.view";

export const useDiffMode = create<{ view: DiffMode }>(() => ({
  view: loadItem(KEY) === "unified" ? "unified" : "split",
}));

export function setDiffMode(view: DiffMode): void {
  saveItem(KEY, view);
  useDiffMode.setState({ view });
}
