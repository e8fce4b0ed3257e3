import { expect, test } from "vitest";
import { omitCommands } from "./nextStep";

test("commands that the page has a button for are left out", () => {
  expect(
    omitCommands("plait retry 6a6a 09 retries it on the current batch branch; plait diff 6a6a 09 shows it."),
  ).toBe("");
  expect(omitCommands("Committing at 10:00; plait retry 6a6a 09 tries again at once; no agent runs.")).toBe(
    "Committing at 10:00; no agent runs.",
  );
  expect(
    omitCommands("Nothing is missing: it is done. plait pr 6a6a publishes it with the batch branch."),
  ).toBe("Nothing is missing: it is done.");
});

test("other commands and sentences stay", () => {
  for (const text of [
    "It runs when its turn comes.",
    "plait run --resume --budget AMOUNT continues the batch, if that is enough.",
    "plait resume 6a6a continues the batch with this terminal's environment.",
  ])
    expect(omitCommands(text)).toBe(text);
});
