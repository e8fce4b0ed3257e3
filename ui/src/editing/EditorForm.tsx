import type { KeyboardEvent } from "react";
import { inWords, Refused } from "../api/client";
import type { WholeTask } from "../api/types";
import { useMayNot } from "../app/me";
import { queries } from "../live/queries";
import { useLive } from "../live/useLive";
import { clock } from "../model/format";
import { Button } from "../parts/Button";
import { confirm } from "../parts/Confirm";
import { Dialog } from "../parts/Dialog";
import { say } from "../parts/Toasts";
import { Changed } from "./Changed";
import { fieldIn } from "./draft";
import styles from "./Editor.module.css";
import { closeEditor } from "./editor";
import { Refusal } from "./Field";
import { Fields } from "./Fields";
import type { Kept, Mode } from "./kept";
import { type Editing, useEditing } from "./useEditing";

interface Props {
  task: WholeTask | null;
  /** What was written last time, and not saved. */
  before: Kept | null;
  where: string;
}

export function EditorForm({ task, before, where }: Props) {
  const editing = useEditing(task, before, where);
  const save = useSave(editing);
  const close = () => {
    if (editing.dirty) say("What you wrote is kept", "It is there when you open the task again.");
    closeEditor();
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void save();
  };
  return (
    <Dialog
      title={task === null ? "New task" : `Edit ${task.id}`}
      size="large"
      onClose={close}
      actions={<Actions editing={editing} isNew={task === null} save={save} />}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Ctrl+Enter saves from every field */}
      <div className={styles.editor} onKeyDown={pressed}>
        {before !== null && editing.dirty && (
          <p className={styles.notice}>You wrote this {clock(before.at, Date.now())}, and did not save it.</p>
        )}
        {editing.theirs !== null && <Changed editing={editing} theirs={editing.theirs} />}
        <Unplaced editing={editing} />
        {task?.text != null && <Modes editing={editing} />}
        {editing.mode === "text" ? <Text editing={editing} /> : <Fields editing={editing} task={task} />}
      </div>
    </Dialog>
  );
}

function useSave(editing: Editing): () => Promise<void> {
  const live = useLive();
  return async () => {
    if (editing.busy || editing.theirs !== null) return;
    const saved = await editing.save();
    if (saved === null) return;
    say(`Saved ${saved.id}`);
    for (const { message, hint } of saved.problems.slice(0, 3)) say(message, hint);
    closeEditor();
    void live?.refresh();
    void queries.invalidateQueries();
  };
}

function Actions({ editing, isNew, save }: { editing: Editing; isNew: boolean; save(): Promise<void> }) {
  const mayNot = useMayNot();
  const discard = async () => {
    const sure = await confirm({
      title: "Discard what you wrote?",
      text: "It is not saved, and can't be had back.",
      action: "Discard",
      danger: true,
    });
    if (!sure) return;
    editing.forget();
    closeEditor();
  };
  const why = mayNot ?? blocked(editing, isNew);
  return (
    <>
      {editing.dirty && (
        <Button kind="danger" onClick={() => void discard()}>
          Discard
        </Button>
      )}
      <Button kind="primary" disabled={why} busy={editing.busy} onClick={() => void save()}>
        {isNew ? "Create task" : "Save"}
      </Button>
    </>
  );
}

function blocked({ dirty, draft, theirs, mode }: Editing, isNew: boolean): string | null {
  if (theirs !== null) return "Somebody else has changed this task: decide about that first.";
  if (mode === "fields" && draft.title.trim() === "") return "A task needs a title.";
  return dirty || isNew ? null : "Nothing is changed.";
}

const MODES: Record<Mode, string> = { fields: "Fields", text: "File" };

/** One of them at a time: what is written in one is not seen in the other before it is saved. */
function Modes({ editing }: { editing: Editing }) {
  const why = editing.dirty ? "Save or discard what you changed here first." : null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: these are two buttons, and no fields of a form
    <div className={styles.switch} role="group" aria-label="Edit as">
      {(Object.keys(MODES) as Mode[]).map((mode) => (
        <Button
          key={mode}
          kind="quiet"
          aria-pressed={editing.mode === mode}
          disabled={editing.mode === mode ? null : why}
          onClick={() => editing.setMode(mode)}
        >
          {MODES[mode]}
        </Button>
      ))}
    </div>
  );
}

function Text({ editing }: { editing: Editing }) {
  return (
    <label className={styles.field}>
      <span className={styles.label}>The whole file</span>
      <textarea
        className={styles.code}
        rows={22}
        spellCheck={false}
        value={editing.text}
        onChange={(event) => editing.setText(event.target.value)}
      />
      <Refusal error={editing.error} field="text" />
    </label>
  );
}

/** A refusal that is about no field that is seen. */
function Unplaced({ editing }: { editing: Editing }) {
  const { error, mode } = editing;
  if (error === null) return null;
  const field = error instanceof Refused ? fieldIn(error.field) : null;
  if (mode === "text" ? field === "text" : field !== null && field !== "text") return null;
  const { message, hint } = inWords(error);
  return (
    <p className={styles.refusal} role="alert">
      {message} {hint}
    </p>
  );
}
