import { lazy, Suspense, useId, useState } from "react";
import { Button } from "../parts/Button";
import { Loading } from "../parts/Empty";
import styles from "./Words.module.css";
import { isOwn, type PullRequest, reset, shownOf, type Wording } from "./wording";

const Markdown = lazy(() => import("../parts/Markdown"));

interface Props {
  told: PullRequest;
  draft: Wording;
  onDraft(draft: Wording): void;
}

/** The title and the body, to be written or looked at. */
export function Words({ told, draft, onDraft }: Props) {
  const [preview, setPreview] = useState(false);
  const { title, body } = shownOf(draft, told);
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
          <Suspense fallback={<Loading what="Reading" />}>
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
      {!isOwn(draft, told) && (
        <Button kind="quiet" className={styles.reset} onClick={() => onDraft(reset(told))}>
          Put plait's text back
        </Button>
      )}
    </div>
  );
}
