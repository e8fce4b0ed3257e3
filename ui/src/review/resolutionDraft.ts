/* What a person has chosen for the files of a conflict, kept in the browser until it is sent. Pure, but for loading and
   saving.

   Law: a choice is for a file as it looked then. When the branch or the task has moved on, only choices for files that
   still look the same count. */

import { draftKey, loadDraft, saveDraft } from "../store/drafts";
import type { Choices, ConflictFile, FileChoice, TaskConflict } from "./resolution";

interface KeptChoice {
  readonly look: string;
  readonly choice: FileChoice;
  /** What was edited last, also while a side is chosen instead. */
  readonly edited?: string | undefined;
}

/** By the file's path. */
export type ResolutionDraft = Readonly<Record<string, KeptChoice>>;

export function keepChoice(draft: ResolutionDraft, file: ConflictFile, choice: FileChoice): ResolutionDraft {
  const edited = choice.kind === "edit" ? choice.text : editedText(draft, file);
  return { ...draft, [file.path]: { look: lookOf(file), choice, edited } };
}

/** The text to go on editing, if the file was edited before. */
export function editedText(draft: ResolutionDraft, file: ConflictFile): string | undefined {
  return findKept(draft, file)?.edited;
}

/** The choices that count for this conflict. */
export function fittingChoices(draft: ResolutionDraft, { files }: Pick<TaskConflict, "files">): Choices {
  const fitting = files.flatMap((file): [string, FileChoice][] => {
    const kept = findKept(draft, file);
    return kept === undefined ? [] : [[file.path, kept.choice]];
  });
  return new Map(fitting);
}

function findKept(draft: ResolutionDraft, file: ConflictFile): KeptChoice | undefined {
  const kept = Object.hasOwn(draft, file.path) ? draft[file.path] : undefined;
  return kept?.look === lookOf(file) ? kept : undefined;
}

/** Tells versions of a file apart without keeping their texts. */
function lookOf({ merged, ours, theirs }: ConflictFile): string {
  const text = JSON.stringify([merged, ours, theirs]);
  let [one, other] = [0x9e3779b1, 0x85ebca6b];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    one = Math.imul(one ^ code, 0x9e3779b1);
    other = Math.imul(other ^ code, 0x5f356495);
  }
  return `${text.length} ${one >>> 0} ${other >>> 0}`;
}

export function resolutionKey(batchId: string, taskId: string): string {
  return draftKey("resolution", batchId, taskId);
}

export function saveResolution(key: string, draft: ResolutionDraft): void {
  saveDraft(key, Object.keys(draft).length === 0 ? null : draft);
}

/** An older version of the page may have stored another shape. */
export function loadResolution(key: string): ResolutionDraft {
  const stored = loadDraft(key);
  if (typeof stored !== "object" || stored === null) return {};
  return Object.fromEntries(Object.entries(stored).filter(([, kept]) => isKept(kept)));
}

function isKept(value: unknown): value is KeptChoice {
  const { look, choice, edited } = (value ?? {}) as Partial<Record<keyof KeptChoice, unknown>>;
  const { kind, text } = (choice ?? {}) as { kind?: unknown; text?: unknown };
  const whole = kind === "batch" || kind === "task" || (kind === "edit" && typeof text === "string");
  return typeof look === "string" && whole && (edited === undefined || typeof edited === "string");
}
