import { describe, expect, it } from "vitest";
import { actionOf, isOwn, type PullRequest, reset, shownOf, toSend, whyNot } from "./wording";

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
    expect(shownOf({}, told())).toEqual({ title: "2 tasks", body: "| table |" });
    expect(toSend({}, told())).toEqual({});
    expect(toSend({ title: "A house" }, told())).toEqual({ title: "A house" });
    expect(toSend({ title: "2 tasks", body: "mine" }, told())).toEqual({ body: "mine" });
  });

  it("are plait's again when they are put back, also where others were sent before", () => {
    const said = told({ title: "A house", body: "mine" });
    const draft = reset(said);
    expect(shownOf(draft, said)).toEqual({ title: "2 tasks", body: "| table |" });
    expect(toSend(draft, said)).toEqual({ title: "2 tasks", body: "| table |" });
    expect(isOwn(draft, said)).toBe(true);
    expect(isOwn({}, said)).toBe(false);
    expect(reset(told())).toEqual({ title: undefined, body: undefined });
  });

  it("can't be sent where the server says so, in its words", () => {
    const no = told({ canPublish: false, canPush: false, why: "nothing of batch b is merged" });
    expect(whyNot({}, no, "pr")).toBe("Nothing of batch b is merged.");
    expect(whyNot({}, told({ canPublish: false, why: "there is no token" }), "push")).toBeNull();
    expect(whyNot({}, told({ underWay: true }), "pr")).toBe("It is being published.");
    expect(whyNot({ title: " " }, told(), "pr")).toContain("title");
    expect(whyNot({ title: " " }, told(), "push")).toBeNull();
  });

  it("name what is done by what is there", () => {
    expect(actionOf(told(), "pr")).toBe("Open pull request");
    expect(actionOf(told(), "draft")).toBe("Open draft pull request");
    expect(actionOf(told({ url: "https://forge/1" }), "pr")).toBe("Update pull request");
    expect(actionOf(told(), "push")).toBe("Push the branch");
  });
});
