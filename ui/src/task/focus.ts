/* Where the focus was before the panel took it, and whom it goes back to. */

import { focusCard, useBoardLayout } from "../board/shown";
import { findColumn } from "../model/walk";

let origin: HTMLElement | null = null;

/** From one task to the next the panel is drawn anew: who opened it first is remembered. */
export function focusPanel(panel: HTMLElement | null, to: HTMLElement | null): void {
  const { activeElement } = document;
  if (
    activeElement instanceof HTMLElement &&
    activeElement !== document.body &&
    !panel?.contains(activeElement)
  )
    origin = activeElement;
  to?.focus({ preventScroll: true });
}

/** To whatever opened the panel; to the card of the task that was read last, if that is another one. */
export function restoreFocus(id: string | undefined): void {
  const before = origin;
  origin = null;
  const card = before?.closest<HTMLElement>("[data-card]");
  const same = card === null || card === undefined || card.dataset.card === id;
  if (before?.isConnected && same) before.focus({ preventScroll: true });
  else if (id !== undefined && isOnBoard(id)) focusCard(id);
  else document.getElementById("main")?.focus({ preventScroll: true });
}

function isOnBoard(id: string): boolean {
  return (
    document.querySelector("[data-card]") !== null &&
    findColumn(useBoardLayout.getState().columns, id) !== undefined
  );
}
