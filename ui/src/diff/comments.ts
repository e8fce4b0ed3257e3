/* Comments that were written and not sent: a draft for each task, kept by the browser until it was granted. */

import { create } from "zustand";
import { draftName, keepDraft, keptDraft } from "../store/drafts";
import type { Side } from "./rows";

/** Lines of one file, by their numbers on one side. */
export interface Place {
  readonly path: string;
  readonly side: Side;
  readonly from: number;
  readonly to: number;
  /** The first lines as they stand there, each with its sign, and how many more there are. */
  readonly quote: readonly string[];
  readonly more: number;
  /** Of which attempt; 0 where nobody knows. */
  readonly attempt: number;
}

export interface Comment extends Place {
  readonly id: number;
  readonly text: string;
}

export interface Draft {
  readonly comments: readonly Comment[];
  /** What is being written; `id` where a comment is being changed. */
  readonly writing: (Place & { readonly text: string; readonly id: number | null }) | null;
}

export const EMPTY: Draft = { comments: [], writing: null };

const useDrafts = create<{ drafts: Readonly<Record<string, Draft>> }>(() => ({ drafts: {} }));

export function draftKey(batchId: string, taskId: string): string {
  return draftName("comments", batchId, taskId);
}

export function useDraft(key: string): Draft {
  return useDrafts(({ drafts }) => drafts[key]) ?? kept(key);
}

export function begin(key: string, place: Place): void {
  const { writing } = now(key);
  change(key, { writing: { ...place, text: writing?.text ?? "", id: writing?.id ?? null } });
}

export function write(key: string, text: string): void {
  const { writing } = now(key);
  if (writing !== null) change(key, { writing: { ...writing, text } });
}

/** What is being written is a comment now; without words it is none. */
export function finish(key: string): void {
  const { comments, writing } = now(key);
  if (writing === null) return;
  if (writing.text.trim() === "") {
    giveUp(key);
    return;
  }
  const { id, ...rest } = writing;
  const others = comments.filter((each) => each.id !== id);
  const next = Math.max(0, ...comments.map((each) => each.id)) + 1;
  change(key, { comments: [...others, { ...rest, text: rest.text.trim(), id: id ?? next }], writing: null });
}

export function giveUp(key: string): void {
  change(key, { writing: null });
}

export function edit(key: string, comment: Comment): void {
  change(key, { writing: comment });
}

export function remove(key: string, id: number): void {
  change(key, { comments: now(key).comments.filter((each) => each.id !== id) });
}

/** These were sent. What was written or changed meanwhile stays. */
export function sent(key: string, comments: readonly Comment[]): void {
  change(key, { comments: now(key).comments.filter((each) => !comments.includes(each)) });
}

function now(key: string): Draft {
  return useDrafts.getState().drafts[key] ?? kept(key);
}

function change(key: string, part: Partial<Draft>): void {
  const next = { ...now(key), ...part };
  useDrafts.setState(({ drafts }) => ({ drafts: { ...drafts, [key]: next } }));
  keepDraft(key, next.comments.length === 0 && next.writing === null ? null : next);
}

const read = new Map<string, Draft>();

function kept(key: string): Draft {
  const known = read.get(key) ?? draftOf(keptDraft(key));
  read.set(key, known);
  return known;
}

/** Of the shape of today: an older page may have kept another. */
function draftOf(said: unknown): Draft {
  const told = said as Partial<Record<keyof Draft, unknown>> | null;
  const comments = Array.isArray(told?.comments) ? told.comments.filter(isPlace) : [];
  return {
    comments: comments as Comment[],
    writing: isPlace(told?.writing) ? (told.writing as Draft["writing"]) : null,
  };
}

function isPlace(said: unknown): said is Place & { text: string } {
  const { path, quote, text } = (said ?? {}) as Partial<Record<keyof Comment, unknown>>;
  return typeof path === "string" && typeof text === "string" && Array.isArray(quote);
}

/** Another window has written: what it kept counts here too. */
window.addEventListener("storage", ({ key }) => {
  if (key === null) return;
  read.delete(key);
  useDrafts.setState(({ drafts: { [key]: _, ...others } }) => ({ drafts: others }));
});
