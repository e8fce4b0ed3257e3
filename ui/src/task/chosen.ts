/* Which attempt's transcript is read; of no number, the newest. */

import { create } from "zustand";
import type { Try } from "./attempts";

export interface Chosen {
  readonly step: "write" | "verify";
  readonly attempt: number | null;
}

export const NEWEST: Chosen = { step: "write", attempt: null };

export const useChosenAttempt = create<Chosen>(() => NEWEST);

/** It is one that prints: a merge is git's work. */
export function isPrinted(made: Try): made is Try & { step: Chosen["step"] } {
  return made.step !== "merge";
}

export function choose(made: Try): void {
  if (isPrinted(made)) useChosenAttempt.setState({ step: made.step, attempt: made.attempt });
}
