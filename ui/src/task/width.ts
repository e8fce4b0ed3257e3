/* How wide the panel is, which is kept for the next time, and whether anything is seen beside it. */

import { create } from "zustand";
import { useMedia } from "../parts/useMedia";
import { recall, remember } from "../store/browser";

const KEY = "plait.panel";
export const NARROWEST = 360; // px
export const WIDEST = 1100;
const USUAL = 600;

interface Frame {
  readonly width: number;
  readonly wide: boolean;
  /** It is drawn, and has the focus. */
  readonly there: boolean;
}

export const usePanel = create<Frame>(() => ({ width: kept(), wide: false, there: false }));

/** It covers the whole page: what lies behind it can't be reached. */
export function useCovers(): boolean {
  const { wide, there } = usePanel();
  const phone = useMedia("(max-width: 720px)");
  return there && (wide || phone);
}

function kept(): number {
  const said = Number(recall(KEY));
  return said >= NARROWEST && said <= WIDEST ? said : USUAL;
}

export function setWidth(width: number): void {
  const next = Math.round(Math.min(WIDEST, Math.max(NARROWEST, width)));
  remember(KEY, String(next));
  usePanel.setState({ width: next, wide: false });
}

export function toggleWide(): void {
  usePanel.setState(({ wide }) => ({ wide: !wide }));
}
