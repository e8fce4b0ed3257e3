import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo } from "react";
import type { TaskDetail } from "../api/types";
import { currentProject } from "../app/address";
import { Dialog } from "../parts/Dialog";
import { ErrorState, LoadingState } from "../parts/Empty";
import styles from "./Editor.module.css";
import { EditorForm } from "./EditorForm";
import { closeEditor, useEditor } from "./editor";
import { loadTaskDraft, taskDraftKey } from "./kept";
import { fetchTask } from "./useEditing";

const Markdown = lazy(() => import("../parts/Markdown"));

/** Drawn by the frame; opened by `openEditor`. */
export default function Editor() {
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
      {query.isPending && <LoadingState what="Reading the task" />}
    </Dialog>
  );
}

function EditorWithDraft({ task }: { task: TaskDetail | null }) {
  const storageKey = taskDraftKey(currentProject(), task?.id ?? null);
  const stored = useMemo(() => loadTaskDraft(window.localStorage, storageKey), [storageKey]);
  return <EditorForm task={task} stored={stored} storageKey={storageKey} />;
}

function NotEditable({ task }: { task: TaskDetail }) {
  return (
    <div className={styles.still}>
      <p className={styles.notice}>
        This task can't be edited here: {task.notEditable}. Edit the file itself, and the board follows.
      </p>
      {task.source !== null && <code>{task.source}</code>}
      <Suspense fallback={<LoadingState what="Loading" />}>
        <Markdown text={task.body} />
      </Suspense>
    </div>
  );
}
