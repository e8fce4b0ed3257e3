import { expect, it } from "vitest";
import { dropPartialLine } from "./Gate";

it("tells whole lines of an output that is cut, unless that were nothing", () => {
  expect(dropPartialLine("st\nsecond\nthird\n")).toBe("second\nthird\n");
  expect(dropPartialLine("\nsecond")).toBe("second");
  expect(dropPartialLine("one line without an end")).toBe("one line without an end");
  expect(dropPartialLine("one line\n")).toBe("one line\n");
  expect(dropPartialLine("")).toBe("");
});
