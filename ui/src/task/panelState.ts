/* Width of the task panel, and whether it covers the page. */

import { create } from "zustand";
import { useMediaQuery } from "../components/hooks";
import { loadItem, saveItem } from "../store/browserStorage";

const KEY = "plait.panel";
export const MIN_WIDTH = 360; // px
export const MAX_WIDTH = 1100;
const DEFAULT_WIDTH = 600;

interface PanelState {
  readonly width: number;
  readonly wide: boolean;
  /** It is rendered and has the focus. */
  readonly mounted: boolean;
}

export const usePanel = create<PanelState>(() => ({ width: storedWidth(), wide: false, mounted: false }));

/** It covers the whole page, which is inert behind it. */
export function useFullScreenPanel(): boolean {
  const { wide, mounted } = usePanel();
  const phone = useMediaQuery("(max-width: 720px)");
  return mounted && (wide || phone);
}

function storedWidth(): number {
  const stored = Number(loadItem(KEY));
  return stored >= MIN_WIDTH && stored <= MAX_WIDTH ? stored : DEFAULT_WIDTH;
}

export function setWidth(width: number): void {
  const next = Math.round(Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, width)));
  saveItem(KEY, String(next));
  usePanel.setState({ width: next, wide: false });
}

export function toggleWide(): void {
  usePanel.setState(({ wide }) => ({ wide: !wide }));
}
