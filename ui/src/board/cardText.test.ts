import { describe, expect, it } from "vitest";
import { sampleRun, sampleTask } from "../model/testData";
import {
  cardReason,
  describeMove,
  formatPriority,
  ownStatus,
  reasonLength,
  repeatsTitle,
  truncate,
} from "./cardText";

describe("a card", () => {
  it("shows the agent's activity while it runs, and the short reason otherwise", () => {
    const at = (status: "running" | "waiting", needsYou = false) =>
      sampleTask("a", { batch: sampleRun("a", { status, reason: "needs b", phase: "Phase 4", needsYou }) });
    expect(cardReason(at("running"), "editing app.py")).toBe("editing app.py");
    expect(cardReason(at("running"), undefined)).toBe("Phase 4");
    expect(cardReason(at("running", true), "editing app.py")).toBe("needs b");
    expect(cardReason(at("waiting"), "editing app.py")).toBe("needs b");
    const failed = sampleRun("a", { status: "failed", reason: "the agent failed: no key", short: "no key" });
    expect(cardReason(sampleTask("a", { batch: failed }), undefined)).toBe("no key");
    expect(cardReason(sampleTask("a"), undefined)).toBe("");
  });

  it("has no id that only repeats the title", () => {
    expect(repeatsTitle("3-rename-examples-readme", "3. Rename `examples/README` to README.rst")).toBe(true);
    expect(repeatsTitle("01-walls", "01-walls")).toBe(true);
    expect(repeatsTitle("01-walls", "Build the walls")).toBe(false);
    expect(repeatsTitle("a", "Add the walls")).toBe(false);
    expect(repeatsTitle("T031", "Build the walls")).toBe(false);
  });

  it("gives a reason two lines only if it doesn't fit on one", () => {
    const width = (text: string) => 6 * text.length;
    const reasons = ["", "merges next", "locale/de.po: no such file"];
    expect(reasons.map((reason) => reasonLength(reason, 120, width))).toEqual([undefined, "short", "long"]);
    expect(reasons.map((reason) => reasonLength(reason, 156, width))).toEqual([undefined, "short", "short"]);
  });

  it("shows a status that its column doesn't say", () => {
    const at = (status: "failed" | "conflicted" | "verifying") =>
      sampleTask("a", { batch: sampleRun("a", { status }) });
    expect(ownStatus(at("failed"), "failed")).toBe("");
    expect(ownStatus(at("conflicted"), "failed")).toBe("conflicted");
    expect(ownStatus(at("verifying"), "running")).toBe("verifying");
    expect(ownStatus(sampleTask("a", { status: "in_progress" }), "todo")).toBe("marked in progress");
    expect(ownStatus(sampleTask("a", { status: "completed" }), "done")).toBe("");
  });

  it("spells priorities, except for the usual one", () => {
    expect([-1, 0, 1, 2].map(formatPriority)).toEqual(["P0", "P1", "", "P3"]);
  });

  it("names its real column while it is frozen in another", () => {
    const running = sampleTask("a", { batch: sampleRun("a", { status: "running" }) });
    expect(describeMove(running, "todo")).toBe("now running");
    expect(describeMove(running, "running")).toBeNull();
  });

  it("truncates long texts", () => {
    expect(truncate("x".repeat(10_000)).length).toBeLessThan(1000);
    expect(truncate("short")).toBe("short");
  });
});
