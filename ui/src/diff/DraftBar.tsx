/* Unsent comments, and the button that sends them. */

import { useState } from "react";
import { sendTaskAction } from "../api/actions";
import { useReadOnlyReason } from "../app/access";
import { Button } from "../components/Button";
import { confirm } from "../components/ConfirmDialog";
import { pluralize } from "../model/format";
import { CommentForm } from "./CommentForm";
import { type Comment, type CommentDraft, removeComment, removeComments } from "./commentDrafts";
import styles from "./DraftBar.module.css";
import { formatFeedback, formatLocation, MAX_FEEDBACK_LENGTH, sortComments } from "./feedback";

interface Props {
  batchId: string;
  taskId: string;
  draftKey: string;
  draft: CommentDraft;
  /** The newest attempt; comments may be of an older one. */
  attempt: number;
  /** A comment being written about lines that are not shown; shown here instead. */
  detached: boolean;
  onSelect(comment: Comment): void;
}

export function DraftBar({ batchId, taskId, draftKey, draft, attempt, detached, onSelect }: Props) {
  const [busy, setBusy] = useState(false);
  const readOnlyReason = useReadOnlyReason();
  const { comments, writing } = draft;
  const detachedComment = detached ? writing : null;
  if (comments.length === 0)
    return (
      detachedComment && (
        <section
          className={styles.bar}
          aria-label={
            detachedComment.path === ""
              ? "Comment on the whole change"
              : "Comment on lines that are not shown"
          }
        >
          <CommentForm draft={draftKey} writing={detachedComment} detached />
        </section>
      )
    );
  const text = formatFeedback(comments, attempt);
  const outdated = comments.filter((each) => each.attempt > 0 && each.attempt < attempt);
  const attempts = [...new Set(outdated.map((each) => each.attempt))].sort((a, b) => a - b);
  const send = async () => {
    setBusy(true);
    const granted = await sendTaskAction(batchId, taskId, "feedback", { text });
    setBusy(false);
    if (granted) removeComments(draftKey, comments);
  };
  return (
    <section className={styles.bar} aria-label="Comments to send">
      {outdated.length > 0 && (
        <p className={styles.outdated}>
          {pluralize(outdated.length, "comment")} {outdated.length === 1 ? "is" : "are"} about attempt{" "}
          {attempts.join(" and ")}. Attempt {attempt} is newer.
        </p>
      )}
      <details className={styles.list}>
        <summary>{pluralize(comments.length, "comment")} not sent</summary>
        <ul>
          {sortComments(comments).map((comment) => (
            <li key={comment.id}>
              <button type="button" className={styles.location} onClick={() => onSelect(comment)}>
                {formatLocation(comment)}
              </button>
              <span className={styles.excerpt}>{comment.text}</span>
              <Button
                kind="quiet"
                label={`Remove the comment on ${formatLocation(comment)}`}
                onClick={() => removeComment(draftKey, comment.id)}
              >
                Remove
              </Button>
            </li>
          ))}
        </ul>
      </details>
      {detachedComment && <CommentForm draft={draftKey} writing={detachedComment} detached />}
      <div className={styles.actions}>
        <Button kind="quiet" onClick={() => void discardComments(draftKey, comments)}>
          Discard all
        </Button>
        <Button
          kind="primary"
          busy={busy}
          disabled={readOnlyReason ?? whyNotSend(draft, text)}
          onClick={() => void send()}
        >
          Send {pluralize(comments.length, "comment")} and retry
        </Button>
      </div>
    </section>
  );
}

function whyNotSend({ writing }: CommentDraft, text: string): string | null {
  if (writing !== null) return "Add or discard the open comment first.";
  return text.length > MAX_FEEDBACK_LENGTH
    ? "The comments exceed 100,000 characters: send fewer or shorter ones."
    : null;
}

async function discardComments(draftKey: string, comments: readonly Comment[]): Promise<void> {
  const yes = await confirm({
    title: "Discard comments?",
    text: `${pluralize(comments.length, "comment")} will be deleted. Nothing was sent.`,
    action: "Discard",
    danger: true,
  });
  if (yes) removeComments(draftKey, comments);
}
