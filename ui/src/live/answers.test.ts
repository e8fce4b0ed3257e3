import { describe, expect, it } from "vitest";
import { event } from "../model/samples";
import { Answers, earlier, reach } from "./answers";

const of = (seq: number | null, task = "a") => event("batch:task:started", task, { seq });

describe("answers", () => {
  it("that are newer than an event are not put back by it", () => {
    const answers = new Answers();
    answers.all("j:5", "j:5");
    expect(answers.news([of(4), of(5), of(6)])).toEqual([of(6)]);
  });

  it("about one task say nothing of another", () => {
    const answers = new Answers();
    answers.all("j:2", "j:2");
    answers.part("7f3a", ["a"], "j:9");
    expect(answers.news([of(8), of(8, "b"), of(10)])).toEqual([of(8, "b"), of(10)]);
  });

  it("tell tasks and batches each as of their own moment", () => {
    const answers = new Answers();
    answers.all("j:7", "j:3");
    const counts = event("batch:progress", null, { seq: 5 });
    expect(answers.news([of(5), counts])).toEqual([counts]);
  });

  it("never hide what agents say, nor what a mark does not speak of", () => {
    const answers = new Answers();
    const said = event("execution:log", "a", { seq: null });
    answers.all("j:7", "j:7");
    expect(answers.news([said])).toEqual([said]);
    answers.forget();
    expect(answers.news([of(1)])).toEqual([of(1)]);
  });
});

describe("a mark", () => {
  it("reaches to its record, and says nothing where only some events of it were told", () => {
    expect([reach("5d0c2f:12"), reach("5d0c2f+1:12"), reach("0"), reach(null)]).toEqual([12, 0, 0, 0]);
  });

  it("that is earlier misses nothing", () => {
    expect(earlier("j:12", "j:9")).toBe("j:9");
    expect(earlier("j:9", "j:12")).toBe("j:9");
  });
});
