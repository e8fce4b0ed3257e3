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
  it("has the editable fields of a task", () => {
    const whole: TaskDetail = {
      ...sampleTask("a", { priority: 1, needs: [{ id: "b", kind: "need", reason: "", at: null }] }),
      body: "text",
      text: null,
      version: null,
      problems: [],
    };
    expect(toTaskDraft(whole)).toMatchObject({ title: "a", body: "text", needs: ["b"], priority: "" });
  });

  it("sends only changed fields, and empty ones to remove them", () => {
    expect(buildPatch(base, { ...base, body: "", needs: [] })).toEqual({ body: "", needs: [] });
    expect(buildPatch(base, { ...base })).toEqual({});
  });

  it("is merged into another version field by field", () => {
    const mine = { ...base, title: "Red roof" };
    const theirs = { ...base, body: "Do it well." };
    expect(conflictingFields(base, mine, theirs)).toEqual([]);
    expect(mergeDrafts(base, mine, theirs)).toEqual({ ...base, title: "Red roof", body: "Do it well." });
  });

  it("conflicts if both changed a field differently", () => {
    const mine = { ...base, title: "Red roof", phase: "2" };
    const theirs = { ...base, title: "Blue roof", phase: "2" };
    expect(conflictingFields(base, mine, theirs)).toEqual(["title"]);
    expect(changedFields(theirs, mergeDrafts(base, mine, theirs))).toEqual(["title"]);
  });

  it("maps server errors to its fields", () => {
    expect(parseFieldName("title")).toBe("title");
    expect(parseFieldName("body.needs")).toBe("needs");
    expect(parseFieldName("text")).toBe("text");
    expect(parseFieldName("settings.budget")).toBeNull();
    expect(parseFieldName(null)).toBeNull();
  });
});
