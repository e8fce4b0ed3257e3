import { describe, expect, it } from "vitest";
import { touched } from "../model/board";
import { event } from "../model/samples";
import { Dirt, named } from "./dirt";

it("gathers the tasks by their batch, and gives them once", () => {
  const dirt = new Dirt();
  expect(dirt.clean).toBe(true);
  dirt.add(touched([event("batch:task:started", "01-walls")]));
  dirt.add(touched([event("batch:task:started", "02-roof"), event("batch:paused", null, { batchId: "9c" })]));
  const taken = dirt.take();
  expect(taken.batches).toEqual(
    new Map([
      ["7f3a", new Set(["01-walls", "02-roof"])],
      ["9c", new Set()],
    ]),
  );
  expect(taken.everything).toBe(false);
  expect(dirt.clean).toBe(true);
});

it("is as it was when what was taken is put back", () => {
  const dirt = new Dirt();
  dirt.add(touched([event("batch:created", null), event("batch:task:queued", "01-walls")]));
  const taken = dirt.take();
  dirt.add(taken.touched);
  const again = dirt.take();
  expect(again.batches).toEqual(taken.batches);
  expect(again.everything).toBe(true);
});

describe("a question", () => {
  it("names its tasks, as long as an address can hold their names", () => {
    expect(named(new Set(["a", "b"]))).toEqual(["a", "b"]);
    expect(named(new Set(Array.from({ length: 101 }, (_, n) => `t${n}`)))).toEqual([]);
    expect(named(new Set(Array.from({ length: 20 }, (_, n) => `${n}`.padEnd(400, "\ud83d\udd28"))))).toEqual(
      [],
    );
  });
});
