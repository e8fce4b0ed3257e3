/* What is being written of a task, and what it is against what was read. Pure.

   Law: only what a person changed is sent. So what somebody else changed elsewhere in the task stays as they have it. */

import type { WholeTask } from "../api/types";

export interface Draft {
  readonly title: string;
  readonly body: string;
  readonly needs: readonly string[];
  readonly touches: readonly string[];
  readonly phase: string;
  readonly priority: string;
  readonly agent: string;
  readonly model: string;
  readonly verify: string;
  readonly run: string;
}

export type Field = keyof Draft;

export const FIELDS: readonly Field[] = [
  "title",
  "body",
  "needs",
  "touches",
  "phase",
  "priority",
  "agent",
  "model",
  "verify",
  "run",
];

export const BLANK: Draft = {
  title: "",
  body: "",
  needs: [],
  touches: [],
  phase: "",
  priority: "",
  agent: "",
  model: "",
  verify: "",
  run: "",
};

const USUAL = 1; // the priority of a task that says nothing of it

export function draftOf(task: WholeTask): Draft {
  return {
    title: task.title,
    body: task.body,
    needs: task.needs.filter(({ kind }) => kind === "need").map(({ id }) => id),
    touches: task.touches,
    phase: task.phase ?? "",
    priority: task.priority === USUAL ? "" : String(task.priority),
    agent: task.agent ?? "",
    model: task.model ?? "",
    verify: task.verify ?? "",
    run: task.run ?? "",
  };
}

/** A field in one text, to be compared. */
export function spelt(draft: Draft, field: Field): string {
  const value = draft[field];
  return typeof value === "string" ? value : value.join("\n");
}

export function changed(base: Draft, draft: Draft): readonly Field[] {
  return FIELDS.filter((field) => spelt(base, field) !== spelt(draft, field));
}

type Said = { -readonly [F in Field]?: string | string[] };

/** What is to be sent: an empty text takes something away. */
export function patch(base: Draft, draft: Draft): Said {
  const said: Said = {};
  for (const field of changed(base, draft)) {
    const value = draft[field];
    said[field] = typeof value === "string" ? value : [...value];
  }
  return said;
}

/** Fields that both have changed, and not to the same. */
export function clashes(base: Draft, mine: Draft, theirs: Draft): readonly Field[] {
  const other = new Set(changed(base, theirs));
  const differs = new Set(changed(mine, theirs));
  return changed(base, mine).filter((field) => other.has(field) && differs.has(field));
}

/** Theirs, with what I changed. */
export function merged(base: Draft, mine: Draft, theirs: Draft): Draft {
  const own = Object.fromEntries(changed(base, mine).map((field) => [field, mine[field]]));
  return { ...theirs, ...own };
}

/** The field that a refusal is about, if it is one of the form's. */
export function fieldIn(said: string | null): Field | "text" | null {
  const last = said?.split(".").at(-1) ?? null;
  return last === "text" ? "text" : (FIELDS.find((field) => field === last) ?? null);
}
