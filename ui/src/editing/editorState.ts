/* Which task is being edited: a new or an existing one. */

import { create } from "zustand";

/** `null`: the editor is closed. `task` null: a new task. */
export const useEditor = create<{ open: { task: string | null } | null }>(() => ({ open: null }));

export function openEditor(task: string | null): void {
  useEditor.setState({ open: { task } });
}

export function closeEditor(): void {
  useEditor.setState({ open: null });
}
