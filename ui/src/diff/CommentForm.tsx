/* A draft comment below its lines, and the form to write one. */

import { useEffect, useId, useRef } from "react";
import { Button } from "../components/Button";
import { Kbd } from "../components/Kbd";
import styles from "./CommentForm.module.css";
import {
  addComment,
  type Comment,
  type CommentDraft,
  cancelComment,
  editComment,
  removeComment,
  updateComment,
} from "./commentDrafts";
import { formatLocation } from "./feedback";

export function SavedComment({ draft, comment }: { draft: string; comment: Comment }) {
  return (
    <article className={styles.comment} aria-label={`Comment on ${formatLocation(comment)}`}>
      <p className={styles.text} dir="auto">
        {comment.text}
      </p>
      <div className={styles.actions}>
        <span className={styles.location}>Not sent yet</span>
        <Button kind="quiet" onClick={() => editComment(draft, comment)}>
          Edit
        </Button>
        <Button kind="quiet" onClick={() => removeComment(draft, comment.id)}>
          Remove
        </Button>
      </div>
    </article>
  );
}

interface CommentFormProps {
  draft: string;
  writing: NonNullable<CommentDraft["writing"]>;
  /** The commented lines are not shown. */
  detached?: boolean;
}

export function CommentForm({ draft, writing, detached = false }: CommentFormProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const name = useId();
  // biome-ignore lint/correctness/useExhaustiveDependencies: selecting other lines keeps the text
  useEffect(() => {
    if (!detached || writing.path === "") field.current?.focus({ preventScroll: true });
  }, [writing.path, writing.from, writing.to]);
  return (
    <form
      className={styles.comment}
      onSubmit={(event) => {
        event.preventDefault();
        addComment(draft);
      }}
    >
      <label htmlFor={name} className={styles.location}>
        Comment on {formatLocation(writing)}
        {writing.side === "old" ? ", old version" : ""}
        {detached && writing.path !== "" && ", not shown"}
      </label>
      <textarea
        id={name}
        ref={field}
        rows={3}
        maxLength={20_000}
        value={writing.text}
        placeholder="What should change, and why"
        onChange={(event) => updateComment(draft, event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) addComment(draft);
          else if (event.key === "Escape") cancelComment(draft);
          else return;
          event.preventDefault();
          event.stopPropagation();
        }}
      />
      <div className={styles.actions}>
        <Button
          type="submit"
          kind="primary"
          disabled={writing.text.trim() === "" ? "Write something first." : null}
        >
          Add comment
        </Button>
        <Button kind="quiet" onClick={() => cancelComment(draft)}>
          Discard
        </Button>
        <span className={styles.hint}>
          <Kbd keys="Mod+Enter" /> to add
        </span>
      </div>
    </form>
  );
}
