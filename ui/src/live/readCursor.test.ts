import { describe, expect, it } from "vitest";
import { sampleEvent } from "../model/testData";
import { earlierCursor, ReadCursors, recordNumber } from "./readCursor";

const of = (seq: number | null, task = "a") => sampleEvent("batch:task:started", task, { seq });

describe("answers", () => {
  it("that are newer than an event are not put back by it", () => {
    const answers = new ReadCursors();
    answers.setAll("j:5", "j:5");
    expect(answers.filterNew([of(4), of(5), of(6)])).toEqual([of(6)]);
  });

  it("about one task say nothing of another", () => {
    const answers = new ReadCursors();
    answers.setAll("j:2", "j:2");
    answers.setBatch("7f3a", ["a"], "j:9");
    expect(answers.filterNew([of(8), of(8, "b"), of(10)])).toEqual([of(8, "b"), of(10)]);
  });

  it("tell tasks and batches each as of their own moment", () => {
    const answers = new ReadCursors();
    answers.setAll("j:7", "j:3");
    const counts = sampleEvent("batch:progress", null, { seq: 5 });
    expect(answers.filterNew([of(5), counts])).toEqual([counts]);
  });

  it("never hide what agents say, nor what a mark does not speak of", () => {
    const answers = new ReadCursors();
    const said = sampleEvent("execution:log", "a", { seq: null });
    answers.setAll("j:7", "j:7");
    expect(answers.filterNew([said])).toEqual([said]);
    answers.reset();
    expect(answers.filterNew([of(1)])).toEqual([of(1)]);
  });
});

describe("a mark", () => {
  it("reaches to its record, and says nothing where only some events of it were told", () => {
    expect([
      recordNumber("5d0c2f:12"),
      recordNumber("5d0c2f+1:12"),
      recordNumber("0"),
      recordNumber(null),
    ]).toEqual([12, 0, 0, 0]);
  });

  it("that is earlier misses nothing", () => {
    expect(earlierCursor("j:12", "j:9")).toBe("j:9");
    expect(earlierCursor("j:9", "j:12")).toBe("j:9");
  });
});
