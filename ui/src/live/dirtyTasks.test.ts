import { describe, expect, it } from "vitest";
import { collectChanges } from "../model/board";
import { sampleEvent } from "../model/testData";
import { DirtyTasks, taskNamesForQuery } from "./dirtyTasks";

it("groups tasks by batch", () => {
  const dirt = new DirtyTasks();
  expect(dirt.isEmpty).toBe(true);
  dirt.add(collectChanges([sampleEvent("batch:task:started", "01-walls")]));
  dirt.add(
    collectChanges([
      sampleEvent("batch:task:started", "02-roof"),
      sampleEvent("batch:paused", null, { batchId: "9c" }),
    ]),
  );
  const taken = dirt.drain();
  expect(taken.batches).toEqual(
    new Map([
      ["7f3a", new Set(["01-walls", "02-roof"])],
      ["9c", new Set()],
    ]),
  );
  expect(taken.everything).toBe(false);
  expect(dirt.isEmpty).toBe(true);
});

it("restores tasks that were taken", () => {
  const dirt = new DirtyTasks();
  dirt.add(
    collectChanges([sampleEvent("batch:created", null), sampleEvent("batch:task:queued", "01-walls")]),
  );
  const taken = dirt.drain();
  dirt.add(taken.changes);
  const again = dirt.drain();
  expect(again.batches).toEqual(taken.batches);
  expect(again.everything).toBe(true);
});

describe("a request for tasks", () => {
  it("names its tasks, as long as the URL isn't too long", () => {
    expect(taskNamesForQuery(new Set(["a", "b"]))).toEqual(["a", "b"]);
    expect(taskNamesForQuery(new Set(Array.from({ length: 101 }, (_, n) => `t${n}`)))).toEqual([]);
    expect(
      taskNamesForQuery(new Set(Array.from({ length: 20 }, (_, n) => `${n}`.padEnd(400, "\ud83d\udd28")))),
    ).toEqual([]);
  });
});
