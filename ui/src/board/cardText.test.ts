import { describe, expect, it } from "vitest";
import { sampleRun, sampleTask } from "../model/testData";
import { describeMove, statusLine, truncate } from "./cardText";

describe("a card", () => {
  it("shows the agent's activity while it runs, and the reason otherwise", () => {
    const at = (status: "running" | "waiting") =>
      sampleTask("a", { batch: sampleRun("a", { status, reason: "needs b", phase: "Phase 4" }) });
    expect(statusLine(at("running"), "editing app.py")).toBe("editing app.py");
    expect(statusLine(at("running"), undefined)).toBe("Phase 4");
    expect(statusLine(at("waiting"), "editing app.py")).toBe("needs b");
    expect(statusLine(sampleTask("a", { status: "failed" }), undefined)).toBe("marked failed");
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
