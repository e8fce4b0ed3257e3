import { useEffect, useId, useRef, useState } from "react";
import { sendTaskAction } from "../api/actions";
import type { Run, Task } from "../api/types";
import { useReadOnlyReason } from "../app/access";
import { Button } from "../components/Button";
import { Dialog } from "../components/Dialog";
import { spellOutBidi } from "../model/format";
import { useTask } from "../store/board";
import { useFeedbackDraft } from "../store/feedbackDraft";
import { useCardDialogs } from "./cardCommands";
import styles from "./TellDialog.module.css";

/** Feedback for a card's agent, or an answer to its question. */
export function TellDialog() {
  const id = useCardDialogs((store) => store.tell);
  useEffect(() => close, []);
  const task = useTask(id ?? "");
  return task?.batch ? <TellForm task={task} run={task.batch} /> : null;
}

function close(): void {
  useCardDialogs.setState({ tell: null });
}

function TellForm({ task, run }: { task: Task; run: Run }) {
  const field = useId();
  const readOnlyReason = useReadOnlyReason();
  const [text, setText] = useFeedbackDraft(run);
  const [busy, setBusy] = useState(false);
  const textarea = useRef<HTMLTextAreaElement>(null);
  useEffect(() => textarea.current?.focus(), []); // after the dialog has opened, which moves the focus
  const asking = run.waiting === "answer";
  const reason = readOnlyReason ?? (text.trim() === "" ? "Write something first." : null);
  const submit = async () => {
    if (reason !== null || busy) return;
    setBusy(true);
    const sent = await sendTaskAction(run.batchId, run.taskId, "feedback", { text });
    setBusy(false);
    if (!sent) return;
    setText("");
    close();
  };
  return (
    <Dialog
      title={asking ? `Answer ${task.id}` : `Tell the agent of ${task.id}`}
      onClose={close}
      actions={
        <>
          <Button onClick={close}>Not now</Button>
          <Button kind="primary" disabled={reason} busy={busy} onClick={() => void submit()}>
            {asking ? "Answer" : "Retry with feedback"}
          </Button>
        </>
      }
    >
      <p className={styles.reason} dir="auto">
        {spellOutBidi(run.short || run.reason)}
      </p>
      <label htmlFor={field}>{asking ? "Your answer" : "Feedback, with which a new attempt starts"}</label>
      <textarea
        id={field}
        ref={textarea}
        className={styles.text}
        rows={5}
        dir="auto"
        value={text}
        onChange={({ target }) => setText(target.value)}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
          event.preventDefault();
          void submit();
        }}
      />
    </Dialog>
  );
}
