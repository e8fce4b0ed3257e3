import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo } from "react";
import type { WholeTask } from "../api/types";
import { projectInAddress } from "../app/address";
import { Dialog } from "../parts/Dialog";
import { Failure, Loading } from "../parts/Empty";
import styles from "./Editor.module.css";
import { EditorForm } from "./EditorForm";
import { closeEditor, useEditor } from "./editor";
import { kept, place } from "./kept";
import { read } from "./useEditing";

const Markdown = lazy(() => import("../parts/Markdown"));

/** Drawn by the frame; opened by `openEditor`. */
export default function Editor() {
  const open = useEditor((store) => store.open);
  if (open === null) return null;
  return open.task === null ? <Form key="new" task={null} /> : <Existing key={open.task} id={open.task} />;
}

function Existing({ id }: { id: string }) {
  const asked = useQuery({
    queryKey: ["editing", id],
    queryFn: () => read(id),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  });
  if (asked.data?.editable) return <Form task={asked.data} />;
  return (
    <Dialog title={`Edit ${id}`} size="large" onClose={closeEditor}>
      {asked.data && <NotEditable task={asked.data} />}
      {asked.isError && <Failure error={asked.error} again={() => void asked.refetch()} />}
      {asked.isPending && <Loading what="Reading the task" />}
    </Dialog>
  );
}

function Form({ task }: { task: WholeTask | null }) {
  const where = place(projectInAddress(), task?.id ?? null);
  const before = useMemo(() => kept(window.localStorage, where), [where]);
  return <EditorForm task={task} before={before} where={where} />;
}

function NotEditable({ task }: { task: WholeTask }) {
  return (
    <div className={styles.still}>
      <p className={styles.notice}>
        This task can't be edited here: {task.notEditable}. Edit the file itself, and the board follows.
      </p>
      {task.source !== null && <code>{task.source}</code>}
      <Suspense fallback={<Loading what="Loading" />}>
        <Markdown text={task.body} />
      </Suspense>
    </div>
  );
}
