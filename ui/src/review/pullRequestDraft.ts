/* The text of a pull request while it is edited. Unedited parts come from the server. */

import type { components } from "../api/schema";
import { draftKey, loadDraft, saveDraft } from "../store/drafts";

export type PullRequest = components["schemas"]["PullRequestPreview"];
export type Publish = "pr" | "draft" | "push";

export interface PullRequestDraft {
  readonly title?: string | undefined;
  readonly body?: string | undefined;
}

export function draftedText(
  draft: PullRequestDraft,
  pullRequest: PullRequest,
): { title: string; body: string } {
  return { title: draft.title ?? pullRequest.title, body: draft.body ?? pullRequest.body };
}

/** Only the edited parts: plait generates the rest, so that it stays correct as tasks are merged. */
export function changedText(
  draft: PullRequestDraft,
  pullRequest: PullRequest,
): { title?: string; body?: string } {
  const { title, body } = draft;
  return {
    ...(title !== undefined && title !== pullRequest.title ? { title } : {}),
    ...(body !== undefined && body !== pullRequest.body ? { body } : {}),
  };
}

/** Resets the text to what plait generates. */
export function resetDraft(pullRequest: PullRequest): PullRequestDraft {
  const { own } = pullRequest;
  return {
    title: own.title === pullRequest.title ? undefined : own.title,
    body: own.body === pullRequest.body ? undefined : own.body,
  };
}

export function isGenerated(draft: PullRequestDraft, pullRequest: PullRequest): boolean {
  const { title, body } = draftedText(draft, pullRequest);
  return title === pullRequest.own.title && body === pullRequest.own.body;
}

/** Why publishing isn't possible now, as a sentence. */
export function whyNotPublish(
  draft: PullRequestDraft,
  pullRequest: PullRequest,
  publish: Publish,
): string | null {
  if (pullRequest.underWay) return "Publishing is in progress.";
  if (publish === "push") return pullRequest.canPush ? null : toSentence(pullRequest.why);
  if (!pullRequest.canPublish) return toSentence(pullRequest.why);
  return draftedText(draft, pullRequest).title.trim() === "" ? "A pull request needs a title." : null;
}

export function publishLabel(pullRequest: PullRequest, publish: Publish): string {
  if (publish === "push") return pullRequest.shipped ? "Push the branch again" : "Push the branch";
  if (pullRequest.url !== null) return "Update pull request";
  return publish === "draft" ? "Open draft pull request" : "Open pull request";
}

export function toSentence(message: string | null): string {
  const text = (message ?? "it can't be published now").trim();
  const capitalized = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.:!?]$/.test(capitalized) ? capitalized : `${capitalized}.`;
}

export function loadPullRequestDraft(batchId: string): PullRequestDraft {
  const stored = loadDraft(draftKey("pr", batchId)) as Partial<
    Record<keyof PullRequestDraft, unknown>
  > | null;
  const text = (value: unknown) => (typeof value === "string" ? value : undefined);
  return { title: text(stored?.title), body: text(stored?.body) };
}

export function savePullRequestDraft(batchId: string, draft: PullRequestDraft): void {
  const empty = draft.title === undefined && draft.body === undefined;
  saveDraft(draftKey("pr", batchId), empty ? null : draft);
}
