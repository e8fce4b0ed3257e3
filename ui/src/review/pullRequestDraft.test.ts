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

const told = (part: Partial<PullRequest> = {}): PullRequest => ({
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

describe("the words of a pull request", () => {
  it("are the server's until somebody writes, and only what was written is sent", () => {
    expect(draftedText({}, told())).toEqual({ title: "2 tasks", body: "| table |" });
    expect(changedText({}, told())).toEqual({});
    expect(changedText({ title: "A house" }, told())).toEqual({ title: "A house" });
    expect(changedText({ title: "2 tasks", body: "mine" }, told())).toEqual({ body: "mine" });
  });

  it("are plait's again when they are put back, also where others were sent before", () => {
    const said = told({ title: "A house", body: "mine" });
    const draft = resetDraft(said);
    expect(draftedText(draft, said)).toEqual({ title: "2 tasks", body: "| table |" });
    expect(changedText(draft, said)).toEqual({ title: "2 tasks", body: "| table |" });
    expect(isGenerated(draft, said)).toBe(true);
    expect(isGenerated({}, said)).toBe(false);
    expect(resetDraft(told())).toEqual({ title: undefined, body: undefined });
  });

  it("can't be sent where the server says so, in its words", () => {
    const no = told({ canPublish: false, canPush: false, why: "nothing of batch b is merged" });
    expect(whyNotPublish({}, no, "pr")).toBe("Nothing of batch b is merged.");
    expect(whyNotPublish({}, told({ canPublish: false, why: "there is no token" }), "push")).toBeNull();
    expect(whyNotPublish({}, told({ underWay: true }), "pr")).toBe("Publishing is in progress.");
    expect(whyNotPublish({ title: " " }, told(), "pr")).toContain("title");
    expect(whyNotPublish({ title: " " }, told(), "push")).toBeNull();
  });

  it("name what is done by what is there", () => {
    expect(publishLabel(told(), "pr")).toBe("Open pull request");
    expect(publishLabel(told(), "draft")).toBe("Open draft pull request");
    expect(publishLabel(told({ url: "https://forge/1" }), "pr")).toBe("Update pull request");
    expect(publishLabel(told(), "push")).toBe("Push the branch");
  });
});
