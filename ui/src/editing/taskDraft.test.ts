import { describe, expect, it } from "vitest";
import type { TaskDetail } from "../api/types";
import { sampleTask } from "../model/testData";
import {
  buildPatch,
  changedFields,
  conflictingFields,
  EMPTY_TASK,
  mergeDrafts,
  parseFieldName,
  toTaskDraft,
} from "./taskDraft";

const base = { ...EMPTY_TASK, title: "Roof", body: "Do it.", needs: ["walls"] };

describe("a draft", () => {
  it("says of a task what a person may change", () => {
    const whole: TaskDetail = {
      ...sampleTask("a", { priority: 1, needs: [{ id: "b", kind: "need", reason: "", at: null }] }),
      body: "text",
      text: null,
      version: null,
      problems: [],
    };
    expect(toTaskDraft(whole)).toMatchObject({ title: "a", body: "text", needs: ["b"], priority: "" });
  });

  it("sends only what was changed; what was emptied is taken away", () => {
    expect(buildPatch(base, { ...base, body: "", needs: [] })).toEqual({ body: "", needs: [] });
    expect(buildPatch(base, { ...base })).toEqual({});
  });

  it("is put into what somebody else wrote, field by field", () => {
    const mine = { ...base, title: "Red roof" };
    const theirs = { ...base, body: "Do it well." };
    expect(conflictingFields(base, mine, theirs)).toEqual([]);
    expect(mergeDrafts(base, mine, theirs)).toEqual({ ...base, title: "Red roof", body: "Do it well." });
  });

  it("clashes where both changed a field, and not to the same", () => {
    const mine = { ...base, title: "Red roof", phase: "2" };
    const theirs = { ...base, title: "Blue roof", phase: "2" };
    expect(conflictingFields(base, mine, theirs)).toEqual(["title"]);
    expect(changedFields(theirs, mergeDrafts(base, mine, theirs))).toEqual(["title"]);
  });

  it("knows its fields in what the server says of them", () => {
    expect(parseFieldName("title")).toBe("title");
    expect(parseFieldName("body.needs")).toBe("needs");
    expect(parseFieldName("text")).toBe("text");
    expect(parseFieldName("settings.budget")).toBeNull();
    expect(parseFieldName(null)).toBeNull();
  });
});
