import { describe, expect, it } from "vitest";
import { sampleEvent } from "../model/testData";
import { earlierCursor, ReadCursors, recordNumber } from "./readCursor";

const eventOf = (seq: number | null, task = "a") => sampleEvent("batch:task:started", task, { seq });

describe("responses", () => {
  it("that are newer than an event are not overwritten by it", () => {
    const answers = new ReadCursors();
    answers.setAll("j:5", "j:5");
    expect(answers.filterNew([eventOf(4), eventOf(5), eventOf(6)])).toEqual([eventOf(6)]);
  });

  it("about one task don't affect another", () => {
    const answers = new ReadCursors();
    answers.setAll("j:2", "j:2");
    answers.setBatch("7f3a", ["a"], "j:9");
    expect(answers.filterNew([eventOf(8), eventOf(8, "b"), eventOf(10)])).toEqual([
      eventOf(8, "b"),
      eventOf(10),
    ]);
  });

  it("have separate cursors for tasks and batches", () => {
    const answers = new ReadCursors();
    answers.setAll("j:7", "j:3");
    const counts = sampleEvent("batch:progress", null, { seq: 5 });
    expect(answers.filterNew([eventOf(5), counts])).toEqual([counts]);
  });

  it("never hide agent output, nor events without a number", () => {
    const answers = new ReadCursors();
    const log = sampleEvent("execution:log", "a", { seq: null });
    answers.setAll("j:7", "j:7");
    expect(answers.filterNew([log])).toEqual([log]);
    answers.reset();
    expect(answers.filterNew([eventOf(1)])).toEqual([eventOf(1)]);
  });
});

describe("a cursor", () => {
  it("covers its record, unless only some of its events were received", () => {
    expect([
      recordNumber("5d0c2f:12"),
      recordNumber("5d0c2f+1:12"),
      recordNumber("0"),
      recordNumber(null),
    ]).toEqual([12, 0, 0, 0]);
  });

  it("the earlier of two misses nothing", () => {
    expect(earlierCursor("j:12", "j:9")).toBe("j:9");
    expect(earlierCursor("j:9", "j:12")).toBe("j:9");
  });
});
