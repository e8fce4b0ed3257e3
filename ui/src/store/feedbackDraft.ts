/* The text for a run's agent: one, wherever it is written, and stored in the browser until it is sent. */

import { create } from "zustand";
import type { RunRef } from "../task/selectedTask";
import { draftKey, loadDraft, saveDraft } from "./drafts";

const useTexts = create<Readonly<Record<string, string>>>(() => ({}));

export function useFeedbackDraft({ batchId, taskId }: RunRef): [string, (text: string) => void] {
  const name = draftKey("words", batchId, taskId);
  const text = useTexts((texts) => texts[name]) ?? String(loadDraft(name) ?? "");
  return [
    text,
    (next) => {
      useTexts.setState({ [name]: next });
      saveDraft(name, next === "" ? null : next);
    },
  ];
}
