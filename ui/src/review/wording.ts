/* The words of a pull request while a person writes them. What nobody wrote is the server's. Pure, but for where it is kept. */

import type { components } from "../api/schema";
import { draftName, keepDraft, keptDraft } from "../store/drafts";

export type PullRequest = components["schemas"]["PullRequest"];
export type Publish = "pr" | "draft" | "push";

export interface Wording {
  readonly title?: string | undefined;
  readonly body?: string | undefined;
}

export function shownOf(draft: Wording, told: PullRequest): { title: string; body: string } {
  return { title: draft.title ?? told.title, body: draft.body ?? told.body };
}

/** Only what differs from what would be sent anyhow: the rest stays plait's, and true, whatever is merged until then. */
export function toSend(draft: Wording, told: PullRequest): { title?: string; body?: string } {
  const { title, body } = draft;
  return {
    ...(title !== undefined && title !== told.title ? { title } : {}),
    ...(body !== undefined && body !== told.body ? { body } : {}),
  };
}

/** Back to what plait would write by itself, also where somebody else's words are there. */
export function reset(told: PullRequest): Wording {
  const { own } = told;
  return {
    title: own.title === told.title ? undefined : own.title,
    body: own.body === told.body ? undefined : own.body,
  };
}

export function isOwn(draft: Wording, told: PullRequest): boolean {
  const { title, body } = shownOf(draft, told);
  return title === told.own.title && body === told.own.body;
}

/** Why it can't be asked for now; a sentence. */
export function whyNot(draft: Wording, told: PullRequest, publish: Publish): string | null {
  if (told.underWay) return "It is being published.";
  if (publish === "push") return told.canPush ? null : sentence(told.why);
  if (!told.canPublish) return sentence(told.why);
  return shownOf(draft, told).title.trim() === "" ? "A pull request has to have a title." : null;
}

export function actionOf(told: PullRequest, publish: Publish): string {
  if (publish === "push") return told.shipped ? "Push the branch again" : "Push the branch";
  if (told.url !== null) return "Update pull request";
  return publish === "draft" ? "Open draft pull request" : "Open pull request";
}

export function sentence(words: string | null): string {
  const text = (words ?? "it can't be published now").trim();
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.:!?]$/.test(begun) ? begun : `${begun}.`;
}

export function keptWording(batchId: string): Wording {
  const told = keptDraft(draftName("pr", batchId)) as Partial<Record<keyof Wording, unknown>> | null;
  const text = (value: unknown) => (typeof value === "string" ? value : undefined);
  return { title: text(told?.title), body: text(told?.body) };
}

export function keepWording(batchId: string, draft: Wording): void {
  const empty = draft.title === undefined && draft.body === undefined;
  keepDraft(draftName("pr", batchId), empty ? null : draft);
}
