/* Resolves a task's conflict: a side of each file, or its text as a person edits it. The server makes a commit of that,
   which is verified and merged; if the branch has moved on meanwhile, it refuses, and both sides are shown again. */

import { useQuery } from "@tanstack/react-query";
import { useId, useLayoutEffect, useMemo, useRef, useState } from "react";
import { ApiError, api, describeError, unwrap } from "../api/client";
import { useReadOnlyReason } from "../app/access";
import { releaseFreeze } from "../board/boardLayout";
import { Button } from "../components/Button";
import { ErrorState, LoadingState } from "../components/EmptyState";
import { SegmentedControl } from "../components/SegmentedControl";
import { showToast } from "../components/Toasts";
import { escapeSpecial } from "../diff/lineSegments";
import { pluralize } from "../model/format";
import { ConflictFile } from "./ConflictFile";
import styles from "./Conflicts.module.css";
import {
  type Choices,
  type ConflictFile as ConflictFileData,
  type FileChoice,
  findMarker,
  findMissing,
  type TaskConflict,
  toRequestFiles,
} from "./resolution";
import {
  editedText,
  fittingChoices,
  keepChoice,
  loadResolution,
  type ResolutionDraft,
  resolutionKey,
  saveResolution,
} from "./resolutionDraft";

const MAX_ROWS = 24; // lines of the text field
const LINES_ABOVE = 4; // … that are visible above the first conflict

/** Not refetched by itself: what a person edits must not change under their hands. */
export function ResolveForm({ batchId, taskId }: { batchId: string; taskId: string }) {
  const path = { batch_id: batchId, task_id: taskId };
  const { data, error, refetch } = useQuery({
    queryKey: ["conflict", batchId, taskId],
    queryFn: () => unwrap(api.GET("/api/batches/{batch_id}/tasks/{task_id}/conflict", { params: { path } })),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const { choices, choose, startText, discard } = useChoices(batchId, taskId, data);
  const [rest, setRest] = useState<"batch" | "task" | null>(null);
  const [markersBelong, setMarkersBelong] = useState(false);
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const readOnlyReason = useReadOnlyReason();
  if (data === undefined)
    return error === null ? (
      <LoadingState what="Loading both sides" />
    ) : (
      <ErrorState error={error} onRetry={() => void refetch()} />
    );
  const chooseAll = (side: "batch" | "task") => {
    setRest(side);
    choose(
      data.files.filter(({ sides }) => sides),
      { kind: side },
    );
  };

  const send = async () => {
    setBusy(true);
    setProblem(null);
    try {
      const body = {
        with: data.with,
        tip: data.tip,
        files: toRequestFiles(data, choices),
        rest: data.more > 0 ? rest : null,
        markers: markersBelong,
      };
      await unwrap(api.POST("/api/batches/{batch_id}/tasks/{task_id}/resolve", { params: { path }, body }));
      discard();
      showToast(`Resolved ${taskId}: it is verified and merged now`);
      releaseFreeze();
    } catch (failure) {
      const { message, hint } = describeError(failure);
      if (failure instanceof ApiError && failure.status === 409) {
        await refetch();
        setProblem(`Not resolved: ${message}. Both sides are shown as they are now; check your choices.`);
      } else setProblem([message, hint].filter(Boolean).join(". "));
    }
    setBusy(false);
  };

  if (data.files.length === 0)
    return <p className={styles.more}>It no longer conflicts with the branch: recheck it to merge it.</p>;
  return (
    <form
      aria-label={`Resolve the conflict of ${taskId}`}
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      {data.files.length + data.more > 1 && (
        <div className={styles.choice}>
          <span>All files</span>
          <SegmentedControl
            legend="Resolution of all files"
            options={{ batch: "Batch branch", task: taskId }}
            selected={null}
            onSelect={chooseAll}
          />
        </div>
      )}
      {data.files.map((file) => (
        <ConflictFile key={file.path} taskId={taskId} file={file}>
          <FileResolution
            taskId={taskId}
            file={file}
            choice={choices.get(file.path)}
            startText={() => startText(file)}
            onChoose={(choice) => choose([file], choice)}
          />
        </ConflictFile>
      ))}
      <Footer
        conflict={data}
        choices={choices}
        rest={rest}
        problem={problem}
        markersBelong={markersBelong}
        onMarkersBelong={setMarkersBelong}
        busy={busy}
        disabled={readOnlyReason}
      />
    </form>
  );
}

/** What is chosen for each file of a conflict; kept in the browser. */
function useChoices(batchId: string, taskId: string, conflict: TaskConflict | undefined) {
  const key = resolutionKey(batchId, taskId);
  const [draft, setDraft] = useState(() => loadResolution(key));
  const choices: Choices = useMemo(
    () => (conflict === undefined ? new Map() : fittingChoices(draft, conflict)),
    [draft, conflict],
  );
  const keep = (next: ResolutionDraft) => {
    setDraft(next);
    saveResolution(key, next);
  };
  const choose = (files: readonly ConflictFileData[], choice: FileChoice) =>
    keep(files.reduce((now, file) => keepChoice(now, file, choice), draft));
  const startText = (file: ConflictFileData) =>
    editedText(draft, file) ?? (file.merged ?? "").replaceAll("\r\n", "\n");
  return { choices, choose, startText, discard: () => keep({}) };
}

interface FileProps {
  taskId: string;
  file: ConflictFileData;
  choice: FileChoice | undefined;
  /** What editing starts with. */
  startText(): string;
  onChoose(choice: FileChoice): void;
}

function FileResolution({ taskId, file, choice, startText, onChoose }: FileProps) {
  const path = escapeSpecial(file.path);
  if (!file.sides)
    return (
      <p className={styles.note}>
        This file is in the way of a folder, or the other way round. Let an agent repair the conflict.
      </p>
    );
  const options: Partial<Record<FileChoice["kind"], string>> = {
    batch:
      file.ours === null && !file.binary && !file.cut.includes("ours")
        ? "Batch branch (deleted)"
        : "Batch branch",
    task:
      file.theirs === null && !file.binary && !file.cut.includes("theirs") ? `${taskId} (deleted)` : taskId,
    ...(file.editable ? { edit: "Edit" } : {}),
  };
  return (
    <>
      <div className={styles.choice}>
        <span>Take</span>
        <SegmentedControl
          legend={`Resolution of ${path}`}
          options={options as Record<FileChoice["kind"], string>}
          selected={choice?.kind ?? null}
          onSelect={(kind) => onChoose(kind === "edit" ? { kind, text: startText() } : { kind })}
        />
      </div>
      {choice?.kind === "edit" && (
        <ResultText
          label={`Result of ${path}`}
          text={choice.text}
          onEdit={(text) => onChoose({ kind: "edit", text })}
        />
      )}
    </>
  );
}

/** The edited text, scrolled to the first conflict in it. */
function ResultText({ label, text, onEdit }: { label: string; text: string; onEdit(text: string): void }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const lines = text.split("\n").length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, not while it is edited
  useLayoutEffect(() => {
    const marker = findMarker(text);
    if (field.current !== null && marker !== null)
      field.current.scrollTop = (field.current.scrollHeight * (marker - LINES_ABOVE)) / lines;
  }, []);
  return (
    <textarea
      ref={field}
      className={styles.editor}
      aria-label={label}
      spellCheck={false}
      autoCapitalize="off"
      rows={Math.min(MAX_ROWS, lines + 1)}
      value={text}
      onChange={({ target }) => onEdit(target.value)}
    />
  );
}

interface FooterProps {
  conflict: TaskConflict;
  choices: Choices;
  rest: "batch" | "task" | null;
  problem: string | null;
  markersBelong: boolean;
  onMarkersBelong(on: boolean): void;
  busy: boolean;
  disabled: string | null;
}

function Footer({
  conflict,
  choices,
  rest,
  problem,
  markersBelong,
  onMarkersBelong,
  busy,
  disabled,
}: FooterProps) {
  const hint = useId();
  const { open, marked } = findMissing(conflict, choices);
  const missing = open.length + (rest === null ? conflict.more : 0);
  const [first] = marked;
  const why =
    missing > 0
      ? `Choose what becomes of ${missing === 1 && open[0] !== undefined ? escapeSpecial(open[0]) : pluralize(missing, "more file")}.`
      : first !== undefined && !markersBelong
        ? `${escapeSpecial(first.path)}, line ${first.line}: still a conflict marker.`
        : null;
  return (
    <div className={styles.footer}>
      {problem !== null && (
        <p className={styles.problem} role="alert">
          {problem}
        </p>
      )}
      {first !== undefined && missing === 0 && (
        <label className={styles.markers}>
          <input
            type="checkbox"
            checked={markersBelong}
            onChange={({ target }) => onMarkersBelong(target.checked)}
          />
          The lines that look like conflict markers belong there
        </label>
      )}
      <Button type="submit" kind="primary" busy={busy} disabled={disabled ?? why} aria-describedby={hint}>
        Verify and merge
      </Button>
      <span id={hint} className={styles.reason}>
        {why ?? "The result is verified, merged and gated like any other. No agent runs."}
      </span>
    </div>
  );
}
