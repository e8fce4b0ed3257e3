import { lazy, Suspense, useId, useState } from "react";
import { Button } from "../parts/Button";
import { LoadingState } from "../parts/Empty";
import styles from "./Words.module.css";
import { draftedText, isGenerated, type PullRequest, type PullRequestDraft, resetDraft } from "./wording";

const Markdown = lazy(() => import("../parts/Markdown"));

interface PullRequestFieldsProps {
  pullRequest: PullRequest;
  draft: PullRequestDraft;
  onDraft(draft: PullRequestDraft): void;
}

/** The title and the body, to be written or looked at. */
export function PullRequestFields({ pullRequest, draft, onDraft }: PullRequestFieldsProps) {
  const [preview, setPreview] = useState(false);
  const { title, body } = draftedText(draft, pullRequest);
  const [titleId, bodyId] = [useId(), useId()];
  return (
    <div className={styles.words}>
      <label htmlFor={titleId}>Title</label>
      <input
        id={titleId}
        value={title}
        maxLength={255}
        dir="auto"
        autoComplete="off"
        onChange={(event) => onDraft({ ...draft, title: event.target.value })}
      />
      <div className={styles.line}>
        <label htmlFor={bodyId}>Text</label>
        <Button kind="quiet" aria-pressed={preview} onClick={() => setPreview(!preview)}>
          Preview
        </Button>
      </div>
      {preview ? (
        <section className={styles.preview} aria-label="Preview of the text">
          <Suspense fallback={<LoadingState what="Reading" />}>
            <Markdown text={body} />
          </Suspense>
        </section>
      ) : (
        <textarea
          id={bodyId}
          value={body}
          rows={14}
          maxLength={60_000}
          dir="auto"
          placeholder="Left empty, plait writes it."
          onChange={(event) => onDraft({ ...draft, body: event.target.value })}
        />
      )}
      {!isGenerated(draft, pullRequest) && (
        <Button kind="quiet" className={styles.reset} onClick={() => onDraft(resetDraft(pullRequest))}>
          Put plait's text back
        </Button>
      )}
    </div>
  );
}
