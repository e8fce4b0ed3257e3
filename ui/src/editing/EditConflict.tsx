import { useState } from "react";
import type { TaskDetail } from "../api/types";
import { Button } from "../components/Button";
import { confirm } from "../components/ConfirmDialog";
import styles from "./Editor.module.css";
import { conflictingFields, type FieldName, fieldText, type TaskDraft } from "./taskDraft";
import { type TaskEditor, toBase } from "./useTaskEditor";

/** Somebody else was quicker. Nothing of mine is lost: I see theirs, and say what becomes of it. */
export function EditConflict({ editor, theirs }: { editor: TaskEditor; theirs: TaskDetail }) {
  const [comparing, setComparing] = useState(false);
  const now = toBase(theirs);
  const asText = editor.mode === "text";
  const conflicts = asText ? [] : conflictingFields(editor.base.draft, editor.draft, now.draft);
  const mergeable = !asText && conflicts.length === 0;
  const loadTheirs = async () => {
    const sure = await confirm({
      title: "Load their version?",
      text: "What you wrote here is given up for it.",
      action: "Load theirs",
      danger: true,
    });
    if (sure) editor.loadTheirs();
  };
  return (
    <section className={styles.conflict} aria-label="Changed by somebody else">
      <p role="alert">
        <strong>Somebody else has changed this task meanwhile.</strong> Nothing was saved, and what you wrote
        is kept. {mergeable && "You have changed different fields: both fit together."}
      </p>
      <div className={styles.choices}>
        <Button kind="primary" onClick={editor.applyToTheirs}>
          {mergeable ? "Put mine into theirs" : "Go on with mine"}
        </Button>
        <Button onClick={() => void loadTheirs()}>Load theirs</Button>
        <Button aria-expanded={comparing} onClick={() => setComparing(!comparing)}>
          Compare
        </Button>
      </div>
      {comparing && asText && <Comparison name="File" mine={editor.text} theirs={now.text ?? ""} />}
      {comparing && !asText && <ChangedFields mine={editor.draft} theirs={now.draft} />}
    </section>
  );
}

function ChangedFields({ mine, theirs }: { mine: TaskDraft; theirs: TaskDraft }) {
  const fields = (Object.keys(mine) as FieldName[]).filter(
    (field) => fieldText(mine, field) !== fieldText(theirs, field),
  );
  if (fields.length === 0) return <p>Both say the same.</p>;
  return fields.map((field) => (
    <Comparison key={field} name={field} mine={fieldText(mine, field)} theirs={fieldText(theirs, field)} />
  ));
}

function Comparison({ name, mine, theirs }: { name: string; mine: string; theirs: string }) {
  return (
    <div className={styles.comparison}>
      <figure>
        <figcaption>{name}, yours</figcaption>
        <pre dir="auto">{mine}</pre>
      </figure>
      <figure>
        <figcaption>{name}, theirs</figcaption>
        <pre dir="auto">{theirs}</pre>
      </figure>
    </div>
  );
}
