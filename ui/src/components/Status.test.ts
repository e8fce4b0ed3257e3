import { expect, test } from "vitest";
import { taskLabel } from "./Status";

test("a label spells out what would turn the text around", () => {
  expect(taskLabel("01-gate", "done", "a\u202egate")).toBe("01-gate, done, a<U+202E>gate");
  expect(taskLabel("01-gate", "done", "01-gate")).toBe("01-gate, done");
});
