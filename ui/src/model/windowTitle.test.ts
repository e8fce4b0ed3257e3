import { describe, expect, it } from "vitest";
import { sampleBatch, sampleProgress, sampleRun, sampleTask } from "./testData";
import { windowIcon, windowStatus, windowTitle } from "./windowTitle";

const batch = (id: string, status: "running" | "completed", counts: Parameters<typeof sampleProgress>[0]) =>
  [id, sampleBatch(id, { status, progress: sampleProgress(counts) })] as const;

describe("the window title", () => {
  it("counts ended tasks of open batches", () => {
    const batches = new Map([
      batch("a", "running", { total: 5, completed: 2, failed: 1, running: 1, waiting: 1 }),
      batch("b", "running", { total: 2, completed: 1, queued: 1 }),
      batch("c", "completed", { total: 9, completed: 9 }),
    ]);
    const asks = sampleTask("01-walls", { batch: sampleRun("01-walls", { needsYou: true }) });
    const heading = windowStatus({ batches, tasks: new Map([["01-walls", asks]]) });
    expect(heading).toEqual({ ended: 4, total: 7, needingInput: 1 });
  });

  it.each([
    [{ ended: 4, total: 7, needingInput: 0 }, "(4/7) plait · house"],
    [{ ended: 4, total: 7, needingInput: 2 }, "! 2 need you (4/7) plait · house"],
    [{ ended: 0, total: 0, needingInput: 1 }, "! 1 needs you plait · house"],
    [{ ended: 0, total: 0, needingInput: 0 }, "plait · house"],
  ])("of %o is a title", (heading, title) => {
    expect(windowTitle(heading, "house")).toBe(title);
  });

  it("has no project name before it is known", () => {
    expect(windowTitle({ ended: 0, total: 0, needingInput: 0 }, "")).toBe("plait");
  });
});

describe("the icon", () => {
  const drawn = (heading: Parameters<typeof windowIcon>[0]) => decodeURIComponent(windowIcon(heading) ?? "");

  it("is the default one without open batches", () => {
    expect(windowIcon({ ended: 0, total: 0, needingInput: 0 })).toBeNull();
  });

  it("is a progress ring", () => {
    expect(drawn({ ended: 0, total: 4, needingInput: 0 })).toContain('stroke-dasharray="0.0 75.4"');
    expect(drawn({ ended: 2, total: 4, needingInput: 0 })).toContain('stroke-dasharray="37.7 75.4"');
    expect(drawn({ ended: 4, total: 4, needingInput: 0 })).toContain('stroke-dasharray="75.4 75.4"');
  });

  it("has a dot when a person is needed", () => {
    const circles = (needingInput: number) =>
      drawn({ ended: 1, total: 2, needingInput }).split("<circle").length - 1;
    expect([circles(0), circles(1)]).toEqual([2, 3]);
  });
});
