/* A comment below its lines, and the field in which one is written. */

import { useEffect, useId, useRef } from "react";
import { Button } from "../parts/Button";
import { Kbd } from "../parts/Kbd";
import styles from "./Comments.module.css";
import { type Comment, type Draft, edit, finish, giveUp, remove, write } from "./comments";
import { where } from "./feedback";

export function Written({ draft, comment }: { draft: string; comment: Comment }) {
  return (
    <article className={styles.comment} aria-label={`Comment on ${where(comment)}`}>
      <p className={styles.text} dir="auto">
        {comment.text}
      </p>
      <div className={styles.actions}>
        <span className={styles.where}>Not sent yet</span>
        <Button kind="quiet" onClick={() => edit(draft, comment)}>
          Edit
        </Button>
        <Button kind="quiet" onClick={() => remove(draft, comment.id)}>
          Remove
        </Button>
      </div>
    </article>
  );
}

interface WritingProps {
  draft: string;
  writing: NonNullable<Draft["writing"]>;
  /** Its lines are not shown. */
  away?: boolean;
}

export function Writing({ draft, writing, away = false }: WritingProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  const name = useId();
  // biome-ignore lint/correctness/useExhaustiveDependencies: whoever points at other lines goes on writing
  useEffect(() => {
    if (!away) field.current?.focus({ preventScroll: true });
  }, [writing.path, writing.from, writing.to]);
  return (
    <form
      className={styles.comment}
      onSubmit={(event) => {
        event.preventDefault();
        finish(draft);
      }}
    >
      <label htmlFor={name} className={styles.where}>
        Comment on {where(writing)}
        {writing.side === "old" ? ", as it was before" : ""}
        {away && ", which is not shown now"}
      </label>
      <textarea
        id={name}
        ref={field}
        rows={3}
        maxLength={20_000}
        value={writing.text}
        placeholder="What should be different, and why"
        onChange={(event) => write(draft, event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.metaKey || event.ctrlKey)) finish(draft);
          else if (event.key === "Escape") giveUp(draft);
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
        <Button kind="quiet" onClick={() => giveUp(draft)}>
          Discard
        </Button>
        <span className={styles.hint}>
          <Kbd keys="Mod+Enter" /> adds it
        </span>
      </div>
    </form>
  );
}
