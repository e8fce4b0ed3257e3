import { describe, expect, it } from "vitest";
import { type Attempt, describeEnd, describeResult, diffOptions, newestAttempt } from "./attempts";

const made: Attempt = {
  step: "write",
  attempt: 1,
  agent: "shell",
  startedAt: "2026-11-15T10:00:00.000Z",
  completedAt: "2026-11-15T10:01:02.000Z",
  category: "ok",
  exitCode: 0,
  detail: "",
  endedFor: null,
  retriedFor: null,
  told: [],
  toldCheck: null,
  cost: null,
  diffstat: null,
  commit: null,
  node: null,
};

describe("an attempt as text", () => {
  it("says how it ended; a person's action takes precedence over the tool's report", () => {
    expect(describeResult(made)).toBe("passed");
    expect(describeResult({ ...made, category: "task", exitCode: 2 })).toBe("failed, exit 2");
    expect(describeResult({ ...made, category: "killed", exitCode: 143, endedFor: "cancel" })).toBe(
      "cancel, exit 143",
    );
    expect(describeResult({ ...made, completedAt: null, category: null })).toBe("running");
    expect(describeResult({ ...made, completedAt: null, category: null, endedFor: "drop" })).toBe(
      "stopping: drop",
    );
    expect(describeEnd({ ...made, category: "lost", exitCode: null, detail: "its claim is gone" })).toBe(
      "lost · 1m 02s · its claim is gone",
    );
  });

  it("finds the newest attempt of a step, if any", () => {
    const again = { ...made, attempt: 2 };
    expect(newestAttempt([made, again, { ...made, step: "verify" }], "write")).toBe(again);
    expect(newestAttempt([made], "verify")).toBe(undefined);
  });

  it("offers the diffs of resolutions and of attempts that changed something, the newest first", () => {
    const resolved = (resolution: number) => ({ resolution: { resolution, files: [], diffstat: null } });
    const attempts = [
      { ...made, commit: "a1" },
      { ...made, attempt: 2 },
      { ...made, attempt: 3, category: "task" as const, diffstat: { files: 1, added: 1, removed: 0 } },
    ];
    const entries = [{ resolution: null }, resolved(1), resolved(2)];
    expect(diffOptions(attempts, entries).map(({ title }) => title)).toEqual([
      "Result of the task",
      "Resolved conflict 2",
      "Resolved conflict 1",
      "Attempt 3 since attempt 1",
      "Attempt 3",
      "Attempt 1",
    ]);
  });
});
