import { describe, expect, it } from "vitest";
import { headingOf, iconOf, titleOf } from "./heading";
import { head, progress, run, task } from "./samples";

const batch = (id: string, status: "running" | "completed", counts: Parameters<typeof progress>[0]) =>
  [id, head(id, { status, progress: progress(counts) })] as const;

describe("the heading", () => {
  it("counts what has ended of the batches that are open", () => {
    const batches = new Map([
      batch("a", "running", { total: 5, completed: 2, failed: 1, running: 1, waiting: 1 }),
      batch("b", "running", { total: 2, completed: 1, queued: 1 }),
      batch("c", "completed", { total: 9, completed: 9 }),
    ]);
    const asks = task("01-walls", { batch: run("01-walls", { needsYou: true }) });
    const heading = headingOf({ batches, tasks: new Map([["01-walls", asks]]) });
    expect(heading).toEqual({ ended: 4, total: 7, asking: 1 });
  });

  it.each([
    [{ ended: 4, total: 7, asking: 0 }, "(4/7) plait · house"],
    [{ ended: 4, total: 7, asking: 2 }, "! 2 need you (4/7) plait · house"],
    [{ ended: 0, total: 0, asking: 1 }, "! 1 needs you plait · house"],
    [{ ended: 0, total: 0, asking: 0 }, "plait · house"],
  ])("of %o is a title", (heading, title) => {
    expect(titleOf(heading, "house")).toBe(title);
  });

  it("is plain before the project has a name", () => {
    expect(titleOf({ ended: 0, total: 0, asking: 0 }, "")).toBe("plait");
  });
});

describe("the icon", () => {
  const drawn = (heading: Parameters<typeof iconOf>[0]) => decodeURIComponent(iconOf(heading) ?? "");

  it("is the plain one at rest", () => {
    expect(iconOf({ ended: 0, total: 0, asking: 0 })).toBeNull();
  });

  it("is a ring that closes", () => {
    expect(drawn({ ended: 0, total: 4, asking: 0 })).toContain('stroke-dasharray="0.0 75.4"');
    expect(drawn({ ended: 2, total: 4, asking: 0 })).toContain('stroke-dasharray="37.7 75.4"');
    expect(drawn({ ended: 4, total: 4, asking: 0 })).toContain('stroke-dasharray="75.4 75.4"');
  });

  it("has a dot when somebody is needed", () => {
    const circles = (asking: number) => drawn({ ended: 1, total: 2, asking }).split("<circle").length - 1;
    expect([circles(0), circles(1)]).toEqual([2, 3]);
  });
});
