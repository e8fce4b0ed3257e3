import { describe, expect, it } from "vitest";
import { parseNextStep } from "./nextStep";

const parse = (text: string) => parseNextStep(text, { batchId: "6a6a", taskId: "09" });
const action = (kind: string, taskId: string | null = null) => ({ kind, batchId: "6a6a", taskId });

describe("what to do next", () => {
  it("leaves out the commands that are the task's own buttons", () => {
    for (const text of [
      "plait retry 6a6a 09 retries it on the current batch branch; plait diff 6a6a 09 shows it.",
      "plait feedback 6a6a 09 'text' retries it with your feedback.",
      "Nothing is missing: it is done.",
    ])
      expect(parse(text)).toEqual({ text: "", actions: [] });
    expect(parse("Committing at 10:00; plait retry 6a6a 09 tries again at once; no agent runs.").text).toBe(
      "Committing at 10:00; no agent runs.",
    );
    expect(parse("Log in first (claude login); then plait retry 6a6a 09 retries it.").text).toBe(
      "Log in first (claude login).",
    );
  });

  it("has buttons for the others", () => {
    const actions = (text: string) => parse(text).actions;
    expect(actions("plait retry 6a6a 03 retries it, together with 03.")).toEqual([action("retry", "03")]);
    expect(actions("plait retry 6a6a retries what failed and the tasks it blocked.")).toEqual([
      action("retry"),
    ]);
    expect(actions("plait resume 6a6a continues the batch with this terminal's environment.")).toEqual([
      action("resume"),
    ]);
    expect(actions("plait unpause 6a6a continues the batch.")).toEqual([action("unpause")]);
    expect(actions("Nothing is missing: plait explain 6a6a 01 shows the contest's result.")).toEqual([
      action("open", "01"),
    ]);
    expect(
      actions("Nothing is missing: it is done. plait pr 6a6a publishes it with the batch branch."),
    ).toEqual([action("ship")]);
    expect(actions("plait run --resume --budget AMOUNT continues the batch, if that is enough.")).toEqual([
      action("budget"),
    ]);
  });

  it("keeps what is no command", () => {
    const text = "It runs when its turn comes.";
    expect(parse(text)).toEqual({ text, actions: [] });
  });
});
