import { useEffect, useRef, useState } from "react";
import { ApiError, api, unwrap } from "../api/client";
import type { TaskDetail } from "../api/types";
import {
  type Base,
  type Mode,
  NEW_TASK,
  removeTaskDraft,
  type StoredDraft,
  saveTaskDraft,
} from "./draftStorage";
import {
  buildPatch,
  changedFields,
  EMPTY_TASK,
  fieldLines,
  mergeDrafts,
  type TaskDraft,
  toTaskDraft,
} from "./taskDraft";

export interface TaskEditor {
  readonly base: Base;
  readonly draft: TaskDraft;
  readonly text: string;
  readonly mode: Mode;
  readonly dirty: boolean;
  readonly busy: boolean;
  readonly error: unknown;
  /** The current version, if someone else has changed the task. */
  readonly theirs: TaskDetail | null;
  set(part: Partial<TaskDraft>): void;
  setText(text: string): void;
  setMode(mode: Mode): void;
  /** The saved task, or `null` if it could not be saved. */
  save(): Promise<TaskDetail | null>;
  /** Discards my version for theirs. */
  loadTheirs(): void;
  /** Applies my changes to their version, without saving yet. */
  applyToTheirs(): void;
  discard(): void;
}

interface State {
  base: Base;
  draft: TaskDraft;
  text: string;
  mode: Mode;
  busy: boolean;
  error: unknown;
  theirs: TaskDetail | null;
}

export function toBase(task: TaskDetail | null): Base {
  if (task === null) return NEW_TASK;
  const text = task.text === null ? null : fieldLines(task.text);
  return { draft: toTaskDraft(task), text, version: task.version };
}

function initialState(task: TaskDetail | null, stored: StoredDraft | null): State {
  const now = toBase(task);
  const rest = { busy: false, error: null };
  if (stored === null)
    return { ...rest, base: now, draft: now.draft, text: now.text ?? "", mode: "fields", theirs: null };
  const outdated = stored.base.version !== now.version;
  return { ...rest, ...stored, theirs: outdated ? task : null };
}

function isDirty({ base, draft, text, mode }: State): boolean {
  return mode === "text" ? text !== (base.text ?? "") : changedFields(base.draft, draft).length > 0;
}

/** The draft until it is saved or discarded; stored under `where`. */
export function useTaskEditor(
  task: TaskDetail | null,
  stored: StoredDraft | null,
  storageKey: string,
): TaskEditor {
  const [state, setState] = useState(() => initialState(task, stored));
  const latest = useRef(state); // a key that saves may also end an entry
  latest.current = state;
  const { base, draft, text, mode } = state;
  const dirty = isDirty(state);
  const update = (part: Partial<State>) => setState((now) => ({ ...now, ...part }));
  const closed = useRef(false);
  useEffect(() => {
    if (closed.current) return;
    if (dirty)
      saveTaskDraft(window.localStorage, storageKey, {
        base,
        draft,
        text,
        mode,
        at: new Date().toISOString(),
      });
    else removeTaskDraft(window.localStorage, storageKey);
  }, [storageKey, dirty, base, draft, text, mode]);
  const end = () => {
    closed.current = true;
    removeTaskDraft(window.localStorage, storageKey);
  };
  const save = async () => {
    update({ busy: true, error: null });
    try {
      const saved = await saveTask(task?.id ?? null, latest.current);
      end();
      return saved;
    } catch (error) {
      const outdated = error instanceof ApiError && error.status === 409 && error.state === "changed";
      const theirs = outdated && task !== null ? await fetchTask(task.id).catch(() => null) : null;
      update({ busy: false, error: theirs === null ? error : null, theirs });
      return null;
    }
  };
  return {
    ...state,
    dirty,
    set: (part) => setState((now) => ({ ...now, draft: { ...now.draft, ...part }, error: null })),
    setText: (next) => update({ text: next, error: null }),
    setMode: (next) => update({ mode: next, error: null }),
    save,
    loadTheirs: () => {
      const now = toBase(state.theirs);
      update({ base: now, draft: now.draft, text: now.text ?? "", theirs: null, error: null });
    },
    applyToTheirs: () => {
      const now = toBase(state.theirs);
      update({ base: now, draft: mergeDrafts(base.draft, draft, now.draft), theirs: null, error: null });
    },
    discard: end,
  };
}

export function fetchTask(id: string): Promise<TaskDetail> {
  return unwrap(api.GET("/api/tasks/{task_id}", { params: { path: { task_id: id } } }));
}

async function saveTask(id: string | null, { base, draft, text, mode }: State): Promise<TaskDetail> {
  if (id === null) {
    const patch = buildPatch(EMPTY_TASK, draft);
    return unwrap(api.POST("/api/tasks", { body: { ...(patch as object), title: draft.title } }));
  }
  const version = base.version ?? "";
  const body =
    mode === "text" ? { version, text } : { version, ...(buildPatch(base.draft, draft) as object) };
  return unwrap(api.PATCH("/api/tasks/{task_id}", { params: { path: { task_id: id } }, body }));
}
