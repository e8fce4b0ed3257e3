import { useState } from "react";
import type { TaskDetail } from "../api/types";
import { Button } from "../components/Button";
import { confirm } from "../components/ConfirmDialog";
import styles from "./Editor.module.css";
import { conflictingFields, type FieldName, fieldText, type TaskDraft } from "./taskDraft";
import { type TaskEditor, toBase } from "./useTaskEditor";

/** Someone else saved first: compare both versions, merge or discard. */
export function EditConflict({ editor, theirs }: { editor: TaskEditor; theirs: TaskDetail }) {
  const [comparing, setComparing] = useState(false);
  const now = toBase(theirs);
  const asText = editor.mode === "text";
  const conflicts = asText ? [] : conflictingFields(editor.base.draft, editor.draft, now.draft);
  const mergeable = !asText && conflicts.length === 0;
  const loadTheirs = async () => {
    const sure = await confirm({
      title: "Load their version?",
      text: "Your changes will be discarded.",
      action: "Load theirs",
      danger: true,
    });
    if (sure) editor.loadTheirs();
  };
  return (
    <section className={styles.conflict} aria-label="Edit conflict">
      <p role="alert">
        <strong>Someone else has changed this task.</strong> Your changes are not saved yet, and not lost.{" "}
        {mergeable && "You changed different fields, so both can be merged."}
      </p>
      <div className={styles.choices}>
        <Button kind="primary" onClick={editor.applyToTheirs}>
          {mergeable ? "Merge my changes" : "Keep mine"}
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
  if (fields.length === 0) return <p>Both versions are the same.</p>;
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
