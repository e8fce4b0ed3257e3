/* The text for a run's agent, stored in the browser until it is sent. */

import { useState } from "react";
import { draftKey, loadDraft, saveDraft } from "./drafts";

interface RunRef {
  readonly batchId: string;
  readonly taskId: string;
}

export function useFeedbackDraft({ batchId, taskId }: RunRef): [string, (text: string) => void] {
  const name = draftKey("words", batchId, taskId);
  const [text, setText] = useState(() => {
    const stored = loadDraft(name);
    return typeof stored === "string" ? stored : "";
  });
  return [
    text,
    (next) => {
      setText(next);
      saveDraft(name, next === "" ? null : next);
    },
  ];
}
