/* The comments that wait, and the one way to send them. */

import { useState } from "react";
import { steerTask } from "../api/steer";
import { useMayNot } from "../app/me";
import { count } from "../model/format";
import { Button } from "../parts/Button";
import { confirm } from "../parts/Confirm";
import { Writing } from "./Comments";
import { type Comment, type Draft, remove, sent } from "./comments";
import styles from "./DraftBar.module.css";
import { feedback, inOrder, MOST, where } from "./feedback";

interface Props {
  batchId: string;
  taskId: string;
  draftKey: string;
  draft: Draft;
  /** The newest attempt; comments may be of an older one. */
  attempt: number;
  /** What is being written is about lines that are not shown: it is shown here. */
  homeless: boolean;
  onGo(comment: Comment): void;
}

export function DraftBar({ batchId, taskId, draftKey, draft, attempt, homeless, onGo }: Props) {
  const [busy, setBusy] = useState(false);
  const mayNot = useMayNot();
  const { comments, writing } = draft;
  const stray = homeless ? writing : null;
  if (comments.length === 0)
    return (
      stray && (
        <section className={styles.bar} aria-label="Comment on lines that are not shown">
          <Writing draft={draftKey} writing={stray} away />
        </section>
      )
    );
  const text = feedback(comments, attempt);
  const older = comments.filter((each) => each.attempt > 0 && each.attempt < attempt);
  const which = [...new Set(older.map((each) => each.attempt))].sort((a, b) => a - b);
  const send = async () => {
    setBusy(true);
    const granted = await steerTask(batchId, taskId, "feedback", { text });
    setBusy(false);
    if (granted) sent(draftKey, comments);
  };
  return (
    <section className={styles.bar} aria-label="Comments to send">
      {older.length > 0 && (
        <p className={styles.older}>
          {count(older.length, "comment")} {older.length === 1 ? "is" : "are"} about attempt{" "}
          {which.join(" and ")}. Attempt {attempt} has been made since.
        </p>
      )}
      <details className={styles.list}>
        <summary>{count(comments.length, "comment")} not sent</summary>
        <ul>
          {inOrder(comments).map((comment) => (
            <li key={comment.id}>
              <button type="button" className={styles.go} onClick={() => onGo(comment)}>
                {where(comment)}
              </button>
              <span className={styles.said}>{comment.text}</span>
              <Button
                kind="quiet"
                label={`Remove the comment on ${where(comment)}`}
                onClick={() => remove(draftKey, comment.id)}
              >
                Remove
              </Button>
            </li>
          ))}
        </ul>
      </details>
      {stray && <Writing draft={draftKey} writing={stray} away />}
      <div className={styles.actions}>
        <Button kind="quiet" onClick={() => void discard(draftKey, comments)}>
          Discard all
        </Button>
        <Button
          kind="primary"
          busy={busy}
          disabled={mayNot ?? whyNot(draft, text)}
          onClick={() => void send()}
        >
          Send {count(comments.length, "comment")}: a new attempt starts with{" "}
          {comments.length === 1 ? "it" : "them"}
        </Button>
      </div>
    </section>
  );
}

function whyNot({ writing }: Draft, text: string): string | null {
  if (writing !== null) return "A comment is still being written: add or discard it first.";
  return text.length > MOST ? "These are more than 100,000 letters: send fewer or shorter comments." : null;
}

async function discard(draftKey: string, comments: readonly Comment[]): Promise<void> {
  const yes = await confirm({
    title: "Discard the comments",
    text: `${count(comments.length, "comment")} will be gone. Nothing was sent.`,
    action: "Discard",
    danger: true,
  });
  if (yes) sent(draftKey, comments);
}
