import { useId, useState } from "react";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { draftKey, loadDraft, saveDraft } from "../store/drafts";
import styles from "./Actions.module.css";
import type { RunRef } from "./subject";

interface FeedbackFormProps {
  run: RunRef;
  /** What the agent asks; `null`: nobody asked, and it starts again with these words. */
  question: string | null;
  busy: boolean;
  disabled: string | null;
  close: (() => void) | null;
  /** True: it was taken. */
  send(text: string): Promise<boolean>;
}

/** Words for the agent: an answer, or feedback for a new attempt. Until they are sent, the browser keeps them. */
export function FeedbackForm({ run, question, busy, disabled, close, send }: FeedbackFormProps) {
  const [text, setText] = useFeedbackDraft(run);
  const id = useId();
  const disabledReason = disabled ?? (text.trim() === "" ? "Write something first." : null);
  const submit = async () => {
    if (disabledReason === null && !busy && (await send(text))) setText("");
  };
  return (
    <section
      className={styles.words}
      data-asks={question !== null || undefined}
      aria-label={question === null ? "Feedback" : "Needs you"}
    >
      {question !== null && (
        <div className={styles.question}>
          <h3 className={styles.asks}>
            <Icon name="warning" />
            Needs you
          </h3>
          <p dir="auto">{question}</p>
        </div>
      )}
      <label htmlFor={id}>
        {question === null ? "Tell the agent something: it starts again with it" : "Your answer"}
      </label>
      <textarea
        id={id}
        className={styles.text}
        rows={3}
        value={text}
        dir="auto"
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          void submit();
        }}
      />
      <div className={styles.send}>
        {close !== null && (
          <Button kind="quiet" onClick={close}>
            Not now
          </Button>
        )}
        <Button kind="primary" disabled={disabledReason} busy={busy} onClick={() => void submit()}>
          {question === null ? "Start again with this" : "Answer"}
        </Button>
      </div>
    </section>
  );
}

function useFeedbackDraft({ batchId, taskId }: RunRef): [string, (text: string) => void] {
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
