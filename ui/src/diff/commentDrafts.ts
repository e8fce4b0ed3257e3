/* Unsent review comments: one draft per task, stored in the browser until it is sent. */

import { create } from "zustand";
import { draftKey, loadDraft, saveDraft } from "../store/drafts";
import type { Side } from "./diffRows";

/** Lines of one file, by their numbers on one side. */
export interface CommentAnchor {
  readonly path: string;
  readonly side: Side;
  readonly from: number;
  readonly to: number;
  /** The first lines with their signs, and how many more there are. */
  readonly quote: readonly string[];
  readonly more: number;
  /** The attempt's number; 0 if unknown. */
  readonly attempt: number;
}

export interface Comment extends CommentAnchor {
  readonly id: number;
  readonly text: string;
}

export interface CommentDraft {
  readonly comments: readonly Comment[];
  /** The comment being written; `id` is set if an existing one is edited. */
  readonly writing: (CommentAnchor & { readonly text: string; readonly id: number | null }) | null;
}

const useDrafts = create<{ drafts: Readonly<Record<string, CommentDraft>> }>(() => ({ drafts: {} }));

export function commentDraftKey(batchId: string, taskId: string): string {
  return draftKey("comments", batchId, taskId);
}

export function useCommentDraft(key: string): CommentDraft {
  return useDrafts(({ drafts }) => drafts[key]) ?? storedDraft(key);
}

export function startComment(key: string, place: CommentAnchor): void {
  const { writing } = currentDraft(key);
  updateDraft(key, { writing: { ...place, text: writing?.text ?? "", id: writing?.id ?? null } });
}

export function updateComment(key: string, text: string): void {
  const { writing } = currentDraft(key);
  if (writing !== null) updateDraft(key, { writing: { ...writing, text } });
}

/** Saves the comment being written; an empty one is discarded. */
export function addComment(key: string): void {
  const { comments, writing } = currentDraft(key);
  if (writing === null) return;
  if (writing.text.trim() === "") {
    cancelComment(key);
    return;
  }
  const { id, ...rest } = writing;
  const others = comments.filter((each) => each.id !== id);
  const next = Math.max(0, ...comments.map((each) => each.id)) + 1;
  updateDraft(key, {
    comments: [...others, { ...rest, text: rest.text.trim(), id: id ?? next }],
    writing: null,
  });
}

export function cancelComment(key: string): void {
  updateDraft(key, { writing: null });
}

export function editComment(key: string, comment: Comment): void {
  updateDraft(key, { writing: comment });
}

export function removeComment(key: string, id: number): void {
  updateDraft(key, { comments: currentDraft(key).comments.filter((each) => each.id !== id) });
}

/** Removes sent comments, except those changed meanwhile. */
export function removeComments(key: string, comments: readonly Comment[]): void {
  updateDraft(key, { comments: currentDraft(key).comments.filter((each) => !comments.includes(each)) });
}

function currentDraft(key: string): CommentDraft {
  return useDrafts.getState().drafts[key] ?? storedDraft(key);
}

function updateDraft(key: string, part: Partial<CommentDraft>): void {
  const next = { ...currentDraft(key), ...part };
  useDrafts.setState(({ drafts }) => ({ drafts: { ...drafts, [key]: next } }));
  saveDraft(key, next.comments.length === 0 && next.writing === null ? null : next);
}

const cache = new Map<string, CommentDraft>();

function storedDraft(key: string): CommentDraft {
  const known = cache.get(key) ?? parseDraft(loadDraft(key));
  cache.set(key, known);
  return known;
}

/** Validates the stored value: an older version of the page may have stored another shape. */
function parseDraft(value: unknown): CommentDraft {
  const stored = value as Partial<Record<keyof CommentDraft, unknown>> | null;
  const comments = Array.isArray(stored?.comments) ? stored.comments.filter(isAnchor) : [];
  return {
    comments: comments as Comment[],
    writing: isAnchor(stored?.writing) ? (stored.writing as CommentDraft["writing"]) : null,
  };
}

function isAnchor(value: unknown): value is CommentAnchor & { text: string } {
  const { path, quote, text } = (value ?? {}) as Partial<Record<keyof Comment, unknown>>;
  return typeof path === "string" && typeof text === "string" && Array.isArray(quote);
}

/** Another window stored drafts: load them here too. */
window.addEventListener("storage", ({ key }) => {
  if (key === null) return;
  cache.delete(key);
  useDrafts.setState(({ drafts: { [key]: _, ...others } }) => ({ drafts: others }));
});
