import { describe, expect, it } from "vitest";
import type { SourceStatus, TaskStatus } from "../api/types";
import { columnOf } from "./columns";
import { sampleRun, sampleTask } from "./testData";

const columnFor = (status: TaskStatus, more = {}, mark: SourceStatus = "pending") =>
  columnOf(sampleTask("01-walls", { status: mark, batch: sampleRun("01-walls", { status, ...more }) }));

describe("a task in no batch", () => {
  it.each([
    ["pending", "todo"],
    ["in_progress", "todo"],
    ["partial", "todo"],
    ["completed", "done"],
    ["skipped", "done"],
    ["failed", "failed"],
    ["blocked", "failed"],
    ["unreadable", "failed"],
  ] as const)("and that its source calls %s stands in %s", (mark, column) => {
    expect(columnOf(sampleTask("01-walls", { status: mark }))).toBe(column);
  });
});

describe("a task in a batch", () => {
  it.each([
    ["queued", "waiting"],
    ["waiting", "waiting"],
    ["running", "running"],
    ["verifying", "running"],
    ["merging", "running"],
    ["done", "done"],
    ["failed", "failed"],
    ["timed_out", "failed"],
    ["blocked", "failed"],
    ["conflicted", "failed"],
    ["cancelled", "todo"],
    ["skipped", "todo"],
    ["interrupted", "todo"],
  ] as const)("that is %s stands in %s", (status, column) => {
    expect(columnFor(status)).toBe(column);
  });

  it("is in the column Needs you if it waits for a person, whatever its status", () => {
    expect(columnFor("waiting", { needsYou: true })).toBe("asking");
  });

  it("is in review when it is done and not published", () => {
    expect(columnFor("done", { review: true })).toBe("review");
  });

  it("is done once its source says so, however its last batch ended", () => {
    expect(columnFor("failed", {}, "completed")).toBe("done");
    expect(columnFor("cancelled", {}, "completed")).toBe("done");
  });
});
