/* Title and icon of the window, from the state of the batches. Pure. */

import { isOpen } from "../batch/batchStatus";
import type { Board } from "./board";

interface WindowStatus {
  /** Ended tasks of open batches, and all of their tasks. */
  readonly ended: number;
  readonly total: number;
  /** Tasks that wait for a person. */
  readonly needingInput: number;
}

export function windowStatus({ batches, tasks }: Pick<Board, "batches" | "tasks">): WindowStatus {
  let [ended, total, needingInput] = [0, 0, 0];
  for (const batch of batches.values()) {
    if (!isOpen(batch)) continue;
    const { total: all, queued, waiting, running } = batch.progress;
    total += all;
    ended += all - queued - waiting - running;
  }
  for (const task of tasks.values()) if (task.batch?.needsYou) needingInput += 1;
  return { ended, total, needingInput };
}

/** `! 2 need you (4/7) plait · name` */
export function windowTitle({ ended, total, needingInput }: WindowStatus, name: string): string {
  const need = needingInput === 0 ? "" : `! ${needingInput} ${needingInput === 1 ? "needs" : "need"} you `;
  const share = total === 0 ? "" : `(${ended}/${total}) `;
  return `${need}${share}plait${name === "" ? "" : ` · ${name}`}`;
}

// The icon is shown on the browser's background, so its colours don't follow the theme.
const [TRACK_COLOR, PROGRESS_COLOR, ALERT_COLOR] = ["#8b8f9c66", "#5b63d3", "#e0631b"];
const CIRCUMFERENCE = 2 * Math.PI * 12;

/** A progress ring, with a dot when input is needed; `null` if nothing is open. */
export function windowIcon({ ended, total, needingInput }: WindowStatus): string | null {
  if (total === 0 && needingInput === 0) return null;
  const share = total === 0 ? 0 : ended / total;
  const ring = (colour: string, more: string) =>
    `<circle cx="16" cy="16" r="12" fill="none" stroke="${colour}" stroke-width="6"${more}/>`;
  const drawn = `${(share * CIRCUMFERENCE).toFixed(1)} ${CIRCUMFERENCE.toFixed(1)}`;
  const arc = ring(PROGRESS_COLOR, ` stroke-dasharray="${drawn}" transform="rotate(-90 16 16)"`);
  const dot = needingInput === 0 ? "" : `<circle cx="24" cy="24" r="8" fill="${ALERT_COLOR}"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">${ring(TRACK_COLOR, "")}${arc}${dot}</svg>`;
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}
