import type { KeyboardEvent } from "react";
import { ApiError, describeError } from "../api/client";
import type { TaskDetail } from "../api/types";
import { useReadOnlyReason } from "../app/me";
import { queryClient } from "../live/queries";
import { useLive } from "../live/useLive";
import { formatTime } from "../model/format";
import { Button } from "../parts/Button";
import { confirm } from "../parts/Confirm";
import { Dialog } from "../parts/Dialog";
import { showToast } from "../parts/Toasts";
import { EditConflict } from "./Changed";
import { parseFieldName } from "./draft";
import styles from "./Editor.module.css";
import { closeEditor } from "./editor";
import { FieldError } from "./Field";
import { TaskFields } from "./Fields";
import type { Mode, StoredDraft } from "./kept";
import { type TaskEditor, useTaskEditor } from "./useEditing";

interface Props {
  task: TaskDetail | null;
  /** What was written last time, and not saved. */
  stored: StoredDraft | null;
  storageKey: string;
}

export function EditorForm({ task, stored, storageKey }: Props) {
  const editor = useTaskEditor(task, stored, storageKey);
  const save = useSave(editor);
  const close = () => {
    if (editor.dirty) showToast("What you wrote is kept", "It is there when you open the task again.");
    closeEditor();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    void save();
  };
  return (
    <Dialog
      title={task === null ? "New task" : `Edit ${task.id}`}
      size="large"
      onClose={close}
      actions={<EditorActions editor={editor} isNew={task === null} save={save} />}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Ctrl+Enter saves from every field */}
      <div className={styles.editor} onKeyDown={onKeyDown}>
        {stored !== null && editor.dirty && (
          <p className={styles.notice}>
            You wrote this {formatTime(stored.at, Date.now())}, and did not save it.
          </p>
        )}
        {editor.theirs !== null && <EditConflict editor={editor} theirs={editor.theirs} />}
        <GeneralError editor={editor} />
        {task?.text != null && <ModeSwitch editor={editor} />}
        {editor.mode === "text" ? <FileText editor={editor} /> : <TaskFields editor={editor} task={task} />}
      </div>
    </Dialog>
  );
}

function useSave(editor: TaskEditor): () => Promise<void> {
  const live = useLive();
  return async () => {
    if (editor.busy || editor.theirs !== null) return;
    const saved = await editor.save();
    if (saved === null) return;
    showToast(`Saved ${saved.id}`);
    for (const { message, hint } of saved.problems.slice(0, 3)) showToast(message, hint);
    closeEditor();
    void live?.refresh();
    void queryClient.invalidateQueries();
  };
}

function EditorActions({
  editor,
  isNew,
  save,
}: {
  editor: TaskEditor;
  isNew: boolean;
  save(): Promise<void>;
}) {
  const readOnlyReason = useReadOnlyReason();
  const discard = async () => {
    const confirmed = await confirm({
      title: "Discard what you wrote?",
      text: "It is not saved, and can't be had back.",
      action: "Discard",
      danger: true,
    });
    if (!confirmed) return;
    editor.discard();
    closeEditor();
  };
  const disabledReason = readOnlyReason ?? whyNotSave(editor, isNew);
  return (
    <>
      {editor.dirty && (
        <Button kind="danger" onClick={() => void discard()}>
          Discard
        </Button>
      )}
      <Button kind="primary" disabled={disabledReason} busy={editor.busy} onClick={() => void save()}>
        {isNew ? "Create task" : "Save"}
      </Button>
    </>
  );
}

function whyNotSave({ dirty, draft, theirs, mode }: TaskEditor, isNew: boolean): string | null {
  if (theirs !== null) return "Somebody else has changed this task: decide about that first.";
  if (mode === "fields" && draft.title.trim() === "") return "A task needs a title.";
  return dirty || isNew ? null : "Nothing is changed.";
}

const MODE_LABELS: Record<Mode, string> = { fields: "Fields", text: "File" };

/** One of them at a time: what is written in one is not seen in the other before it is saved. */
function ModeSwitch({ editor }: { editor: TaskEditor }) {
  const why = editor.dirty ? "Save or discard what you changed here first." : null;
  return (
    // biome-ignore lint/a11y/useSemanticElements: these are two buttons, and no fields of a form
    <div className={styles.switch} role="group" aria-label="Edit as">
      {(Object.keys(MODE_LABELS) as Mode[]).map((mode) => (
        <Button
          key={mode}
          kind="quiet"
          aria-pressed={editor.mode === mode}
          disabled={editor.mode === mode ? null : why}
          onClick={() => editor.setMode(mode)}
        >
          {MODE_LABELS[mode]}
        </Button>
      ))}
    </div>
  );
}

function FileText({ editor }: { editor: TaskEditor }) {
  return (
    <label className={styles.field}>
      <span className={styles.label}>The whole file</span>
      <textarea
        className={styles.code}
        rows={22}
        spellCheck={false}
        value={editor.text}
        onChange={(event) => editor.setText(event.target.value)}
      />
      <FieldError error={editor.error} field="text" />
    </label>
  );
}

/** A refusal that is about no field that is seen. */
function GeneralError({ editor }: { editor: TaskEditor }) {
  const { error, mode } = editor;
  if (error === null) return null;
  const field = error instanceof ApiError ? parseFieldName(error.field) : null;
  if (mode === "text" ? field === "text" : field !== null && field !== "text") return null;
  const { message, hint } = describeError(error);
  return (
    <p className={styles.refusal} role="alert">
      {message} {hint}
    </p>
  );
}
