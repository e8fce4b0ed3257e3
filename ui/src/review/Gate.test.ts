import { expect, it } from "vitest";
import { dropPartialLine } from "./Gate";

it("drop a partial first line of cut output, unless it is everything", () => {
  expect(dropPartialLine("st\nsecond\nthird\n")).toBe("second\nthird\n");
  expect(dropPartialLine("\nsecond")).toBe("second");
  expect(dropPartialLine("one line without an end")).toBe("one line without an end");
  expect(dropPartialLine("one line\n")).toBe("one line\n");
  expect(dropPartialLine("")).toBe("");
});
