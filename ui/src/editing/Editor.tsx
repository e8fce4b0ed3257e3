import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, lazy, Suspense, useState } from "react";
import { ApiError, describeError } from "../api/client";
import type { TaskDetail } from "../api/types";
import { useReadOnlyReason } from "../app/access";
import { currentProject } from "../app/routes";
import { Button } from "../components/Button";
import { confirm } from "../components/ConfirmDialog";
import { Dialog } from "../components/Dialog";
import { ErrorState, LoadingState } from "../components/EmptyState";
import { SegmentedControl } from "../components/SegmentedControl";
import { showToast } from "../components/Toasts";
import { useLive } from "../live/LiveProvider";
import { queryClient } from "../live/queryClient";
import { formatTime } from "../model/format";
import { loadTaskDraft, type Mode, type StoredDraft, taskDraftKey } from "./draftStorage";
import { EditConflict } from "./EditConflict";
import styles from "./Editor.module.css";
import { closeEditor, useEditor } from "./editorState";
import { FieldError, TaskFields } from "./TaskFields";
import { parseFieldName } from "./taskDraft";
import { fetchTask, type TaskEditor, useTaskEditor } from "./useTaskEditor";

interface Props {
  task: TaskDetail | null;
  /** The unsaved draft from last time. */
  stored: StoredDraft | null;
  storageKey: string;
}

function EditorForm({ task, stored, storageKey }: Props) {
  const editor = useTaskEditor(task, stored, storageKey);
  const save = useSave(editor);
  const close = () => {
    if (editor.dirty) showToast("Draft kept", "It will be there when you open the task again.");
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
          <p className={styles.notice}>Unsaved draft from {formatTime(stored.at, Date.now())}.</p>
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
      title: "Discard your changes?",
      text: "They are not saved and can't be restored.",
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
  if (theirs !== null) return "Someone else has changed this task: resolve that first.";
  if (mode === "fields" && draft.title.trim() === "") return "A task needs a title.";
  return dirty || isNew ? null : "No changes.";
}

const MODE_LABELS: Record<Mode, string> = { fields: "Fields", text: "File" };

/** Only one at a time: edits in one are not visible in the other before they are saved. */
function ModeSwitch({ editor }: { editor: TaskEditor }) {
  const why = editor.dirty ? "Save or discard your changes first." : null;
  return (
    <SegmentedControl
      legend="Edit as"
      options={MODE_LABELS}
      selected={editor.mode}
      onSelect={editor.setMode}
      disabled={why}
    />
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

/** An error that is not about a visible field. */
function GeneralError({ editor }: { editor: TaskEditor }) {
  const { error, mode } = editor;
  if (error === null) return null;
  const field = error instanceof ApiError ? parseFieldName(error.field) : null;
  if (mode === "text" ? field === "text" : field !== null && field !== "text") return null;
  const { message, hint } = describeError(error);
  return (
    <p className={styles.error} role="alert">
      {message} {hint}
    </p>
  );
}

const Markdown = lazy(() => import("../components/Markdown"));

/** Rendered by the app; opened by `openEditor`. */
export function Editor() {
  const open = useEditor((store) => store.open);
  if (open === null) return null;
  return open.task === null ? (
    <EditorWithDraft key="new" task={null} />
  ) : (
    <ExistingTask key={open.task} id={open.task} />
  );
}

function ExistingTask({ id }: { id: string }) {
  const query = useQuery({
    queryKey: ["editing", id],
    queryFn: () => fetchTask(id),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  if (query.data?.editable) return <EditorWithDraft task={query.data} />;
  return (
    <Dialog title={`Edit ${id}`} size="large" onClose={closeEditor}>
      {query.data && <NotEditable task={query.data} />}
      {query.isError && <ErrorState error={query.error} onRetry={() => void query.refetch()} />}
      {query.isPending && <LoadingState what="Loading the task" />}
    </Dialog>
  );
}

function EditorWithDraft({ task }: { task: TaskDetail | null }) {
  // As it was opened: by the browser's Back, another project may be opened behind it.
  const [storageKey] = useState(() => taskDraftKey(currentProject(), task?.id ?? null));
  const [stored] = useState(() => loadTaskDraft(window.localStorage, storageKey));
  return <EditorForm task={task} stored={stored} storageKey={storageKey} />;
}

function NotEditable({ task }: { task: TaskDetail }) {
  return (
    <div className={styles.readOnly}>
      <p className={styles.notice}>
        This task can't be edited here: {task.notEditable}. Edit the file itself; the board updates.
      </p>
      {task.source !== null && <code>{task.source}</code>}
      <Suspense fallback={<LoadingState what="Loading" />}>
        <Markdown text={task.body} />
      </Suspense>
    </div>
  );
}
