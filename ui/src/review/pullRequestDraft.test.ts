import { describe, expect, it } from "vitest";
import {
  changedText,
  draftedText,
  isGenerated,
  type PullRequest,
  publishLabel,
  resetDraft,
  whyNotPublish,
} from "./pullRequestDraft";

const samplePullRequest = (part: Partial<PullRequest> = {}): PullRequest => ({
  batchId: "b",
  title: "2 tasks",
  body: "| table |",
  own: { title: "2 tasks", body: "| table |" },
  branch: "plait/batch-b",
  target: "main",
  url: null,
  shipped: false,
  underWay: false,
  canPublish: true,
  canPush: true,
  why: null,
  hint: null,
  ...part,
});

describe("the text of a pull request", () => {
  it("comes from the server until it is edited, and only edits are sent", () => {
    expect(draftedText({}, samplePullRequest())).toEqual({ title: "2 tasks", body: "| table |" });
    expect(changedText({}, samplePullRequest())).toEqual({});
    expect(changedText({ title: "A house" }, samplePullRequest())).toEqual({ title: "A house" });
    expect(changedText({ title: "2 tasks", body: "mine" }, samplePullRequest())).toEqual({ body: "mine" });
  });

  it("is generated again after a reset, even if another text was sent before", () => {
    const preview = samplePullRequest({ title: "A house", body: "mine" });
    const draft = resetDraft(preview);
    expect(draftedText(draft, preview)).toEqual({ title: "2 tasks", body: "| table |" });
    expect(changedText(draft, preview)).toEqual({ title: "2 tasks", body: "| table |" });
    expect(isGenerated(draft, preview)).toBe(true);
    expect(isGenerated({}, preview)).toBe(false);
    expect(resetDraft(samplePullRequest())).toEqual({ title: undefined, body: undefined });
  });

  it("can't be sent if the server says why not", () => {
    const no = samplePullRequest({ canPublish: false, canPush: false, why: "nothing of batch b is merged" });
    expect(whyNotPublish({}, no, "pr")).toBe("Nothing of batch b is merged.");
    expect(
      whyNotPublish({}, samplePullRequest({ canPublish: false, why: "there is no token" }), "push"),
    ).toBeNull();
    expect(whyNotPublish({}, samplePullRequest({ underWay: true }), "pr")).toBe("Publishing is in progress.");
    expect(whyNotPublish({ title: " " }, samplePullRequest(), "pr")).toContain("title");
    expect(whyNotPublish({ title: " " }, samplePullRequest(), "push")).toBeNull();
  });

  it("the button's label depends on what exists", () => {
    expect(publishLabel(samplePullRequest(), "pr")).toBe("Open pull request");
    expect(publishLabel(samplePullRequest(), "draft")).toBe("Open draft pull request");
    expect(publishLabel(samplePullRequest({ url: "https://forge/1" }), "pr")).toBe("Update pull request");
    expect(publishLabel(samplePullRequest(), "push")).toBe("Push the branch");
  });
});
