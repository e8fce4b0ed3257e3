import { expect, test } from "vitest";
import { omitCommands } from "./client";

test("commands that the page has buttons for are left out of hints", () => {
  expect(omitCommands("Continue it: plait run --resume. Or cancel it: plait cancel 7f3a.")).toBe(
    "Continue it. Or cancel it.",
  );
  expect(omitCommands("If that is right, drop the task: plait drop 7f3a roof")).toBe(
    "If that is right, drop the task",
  );
  expect(omitCommands("`plait status 7f3a` lists its tasks.")).toBe(null);
  expect(omitCommands("Look at it again. `plait explain` shows what happened to it.")).toBe(
    "Look at it again.",
  );
});

test("other commands stay", () => {
  for (const hint of ["To allow it on this machine: plait trust.", "Start it with: plait serve", null])
    expect(omitCommands(hint)).toBe(hint);
});
