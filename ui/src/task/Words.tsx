import { useId, useState } from "react";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { draftName, keepDraft, keptDraft } from "../store/drafts";
import styles from "./Actions.module.css";
import type { RunName } from "./subject";

interface Props {
  run: RunName;
  /** What the agent asks; `null`: nobody asked, and it starts again with these words. */
  question: string | null;
  busy: boolean;
  disabled: string | null;
  close: (() => void) | null;
  /** True: it was taken. */
  send(text: string): Promise<boolean>;
}

/** Words for the agent: an answer, or feedback for a new attempt. Until they are sent, the browser keeps them. */
export function Words({ run, question, busy, disabled, close, send }: Props) {
  const [text, setText] = useWords(run);
  const id = useId();
  const why = disabled ?? (text.trim() === "" ? "Write something first." : null);
  const submit = async () => {
    if (why === null && !busy && (await send(text))) setText("");
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
        <Button kind="primary" disabled={why} busy={busy} onClick={() => void submit()}>
          {question === null ? "Start again with this" : "Answer"}
        </Button>
      </div>
    </section>
  );
}

function useWords({ batchId, taskId }: RunName): [string, (text: string) => void] {
  const name = draftName("words", batchId, taskId);
  const [text, setText] = useState(() => {
    const kept = keptDraft(name);
    return typeof kept === "string" ? kept : "";
  });
  return [
    text,
    (next) => {
      setText(next);
      keepDraft(name, next === "" ? null : next);
    },
  ];
}
