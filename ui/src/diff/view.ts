/* How a person likes to see changes: kept by the browser, for all of them. */

import { create } from "zustand";
import { recall, remember } from "../store/browser";
import type { View } from "./rows";

const KEY = "plait.diff.view";

export const useView = create<{ view: View }>(() => ({
  view: recall(KEY) === "unified" ? "unified" : "split",
}));

export function setView(view: View): void {
  remember(KEY, view);
  useView.setState({ view });
}
