import { describe, expect, it } from "vitest";
import { run, task } from "../model/samples";
import { clipped, elsewhere, line } from "./card";

describe("a card", () => {
  it("says what its agent does while it is at work, and why it stands still otherwise", () => {
    const at = (status: "running" | "waiting") =>
      task("a", { batch: run("a", { status, reason: "needs b", phase: "Phase 4" }) });
    expect(line(at("running"), "editing app.py")).toBe("editing app.py");
    expect(line(at("running"), undefined)).toBe("Phase 4");
    expect(line(at("waiting"), "editing app.py")).toBe("needs b");
    expect(line(task("a", { status: "failed" }), undefined)).toBe("failed, says its source");
  });

  it("says where it belongs while it is held elsewhere", () => {
    const running = task("a", { batch: run("a", { status: "running" }) });
    expect(elsewhere(running, "todo")).toBe("now running");
    expect(elsewhere(running, "running")).toBeNull();
  });

  it("is never longer than can be laid out at once", () => {
    expect(clipped("x".repeat(10_000)).length).toBeLessThan(1000);
    expect(clipped("short")).toBe("short");
  });
});
