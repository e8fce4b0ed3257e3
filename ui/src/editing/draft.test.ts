import { describe, expect, it } from "vitest";
import type { WholeTask } from "../api/types";
import { task } from "../model/samples";
import { BLANK, changed, clashes, draftOf, fieldIn, merged, patch } from "./draft";

const base = { ...BLANK, title: "Roof", body: "Do it.", needs: ["walls"] };

describe("a draft", () => {
  it("says of a task what a person may change", () => {
    const whole: WholeTask = {
      ...task("a", { priority: 1, needs: [{ id: "b", kind: "need", reason: "", at: null }] }),
      body: "text",
      text: null,
      version: null,
      problems: [],
    };
    expect(draftOf(whole)).toMatchObject({ title: "a", body: "text", needs: ["b"], priority: "" });
  });

  it("sends only what was changed; what was emptied is taken away", () => {
    expect(patch(base, { ...base, body: "", needs: [] })).toEqual({ body: "", needs: [] });
    expect(patch(base, { ...base })).toEqual({});
  });

  it("is put into what somebody else wrote, field by field", () => {
    const mine = { ...base, title: "Red roof" };
    const theirs = { ...base, body: "Do it well." };
    expect(clashes(base, mine, theirs)).toEqual([]);
    expect(merged(base, mine, theirs)).toEqual({ ...base, title: "Red roof", body: "Do it well." });
  });

  it("clashes where both changed a field, and not to the same", () => {
    const mine = { ...base, title: "Red roof", phase: "2" };
    const theirs = { ...base, title: "Blue roof", phase: "2" };
    expect(clashes(base, mine, theirs)).toEqual(["title"]);
    expect(changed(theirs, merged(base, mine, theirs))).toEqual(["title"]);
  });

  it("knows its fields in what the server says of them", () => {
    expect(fieldIn("title")).toBe("title");
    expect(fieldIn("body.needs")).toBe("needs");
    expect(fieldIn("text")).toBe("text");
    expect(fieldIn("settings.budget")).toBeNull();
    expect(fieldIn(null)).toBeNull();
  });
});
