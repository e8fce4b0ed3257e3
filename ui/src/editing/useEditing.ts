import { useEffect, useRef, useState } from "react";
import { api, Refused, told } from "../api/client";
import type { WholeTask } from "../api/types";
import { BLANK, changed, type Draft, draftOf, merged, patch } from "./draft";
import { type Base, forget, type Kept, keep, type Mode, NEW } from "./kept";

export interface Editing {
  readonly base: Base;
  readonly draft: Draft;
  readonly text: string;
  readonly mode: Mode;
  readonly dirty: boolean;
  readonly busy: boolean;
  readonly error: unknown;
  /** Somebody else has changed it meanwhile: as it is now. */
  readonly theirs: WholeTask | null;
  set(part: Partial<Draft>): void;
  setText(text: string): void;
  setMode(mode: Mode): void;
  /** What was saved, or `null` where it could not be. */
  save(): Promise<WholeTask | null>;
  /** Mine is given up for theirs. */
  takeTheirs(): void;
  /** What I changed is put into theirs; saved it is only afterwards. */
  putIntoTheirs(): void;
  forget(): void;
}

interface State {
  base: Base;
  draft: Draft;
  text: string;
  mode: Mode;
  busy: boolean;
  error: unknown;
  theirs: WholeTask | null;
}

export function baseOf(task: WholeTask | null): Base {
  if (task === null) return NEW;
  return { draft: draftOf(task), text: task.text, version: task.version };
}

function begun(task: WholeTask | null, before: Kept | null): State {
  const now = baseOf(task);
  const rest = { busy: false, error: null };
  if (before === null)
    return { ...rest, base: now, draft: now.draft, text: now.text ?? "", mode: "fields", theirs: null };
  const late = before.base.version !== now.version;
  return { ...rest, ...before, theirs: late ? task : null };
}

function isDirty({ base, draft, text, mode }: State): boolean {
  return mode === "text" ? text !== (base.text ?? "") : changed(base.draft, draft).length > 0;
}

/** The text that is being written, until it is saved or given up; kept at `where` all the while. */
export function useEditing(task: WholeTask | null, before: Kept | null, where: string): Editing {
  const [state, setState] = useState(() => begun(task, before));
  const { base, draft, text, mode } = state;
  const dirty = isDirty(state);
  const put = (part: Partial<State>) => setState((now) => ({ ...now, ...part }));
  const over = useRef(false);
  useEffect(() => {
    if (over.current) return;
    if (dirty) keep(window.localStorage, where, { base, draft, text, mode, at: new Date().toISOString() });
    else forget(window.localStorage, where);
  }, [where, dirty, base, draft, text, mode]);
  const end = () => {
    over.current = true;
    forget(window.localStorage, where);
  };
  const save = async () => {
    put({ busy: true, error: null });
    try {
      const saved = await send(task?.id ?? null, state);
      end();
      return saved;
    } catch (error) {
      const late = error instanceof Refused && error.status === 409 && error.state === "changed";
      const theirs = late && task !== null ? await read(task.id).catch(() => null) : null;
      put({ busy: false, error: theirs === null ? error : null, theirs });
      return null;
    }
  };
  return {
    ...state,
    dirty,
    set: (part) => setState((now) => ({ ...now, draft: { ...now.draft, ...part }, error: null })),
    setText: (next) => put({ text: next, error: null }),
    setMode: (next) => put({ mode: next, error: null }),
    save,
    takeTheirs: () => {
      const now = baseOf(state.theirs);
      put({ base: now, draft: now.draft, text: now.text ?? "", theirs: null, error: null });
    },
    putIntoTheirs: () => {
      const now = baseOf(state.theirs);
      put({ base: now, draft: merged(base.draft, draft, now.draft), theirs: null, error: null });
    },
    forget: end,
  };
}

export function read(id: string): Promise<WholeTask> {
  return told(api.GET("/api/tasks/{task_id}", { params: { path: { task_id: id } } }));
}

async function send(id: string | null, { base, draft, text, mode }: State): Promise<WholeTask> {
  if (id === null) {
    const said = patch(BLANK, draft);
    return told(api.POST("/api/tasks", { body: { ...(said as object), title: draft.title } }));
  }
  const version = base.version ?? "";
  const body = mode === "text" ? { version, text } : { version, ...(patch(base.draft, draft) as object) };
  return told(api.PATCH("/api/tasks/{task_id}", { params: { path: { task_id: id } }, body }));
}
