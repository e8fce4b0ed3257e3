/* Which attempt's transcript is read; of no number, the newest. */

import { create } from "zustand";
import type { Attempt } from "./attempts";

export interface SelectedAttempt {
  readonly step: "write" | "verify";
  readonly attempt: number | null;
}

export const NEWEST_ATTEMPT: SelectedAttempt = { step: "write", attempt: null };

export const useSelectedAttempt = create<SelectedAttempt>(() => NEWEST_ATTEMPT);

/** It is one that prints: a merge is git's work. */
export function hasTranscript(attempt: Attempt): attempt is Attempt & { step: SelectedAttempt["step"] } {
  return attempt.step !== "merge";
}

export function selectAttempt(attempt: Attempt): void {
  if (hasTranscript(attempt)) useSelectedAttempt.setState({ step: attempt.step, attempt: attempt.attempt });
}
