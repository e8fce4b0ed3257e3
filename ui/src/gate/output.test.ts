import { expect, it } from "vitest";
import { wholeLines } from "./output";

it("tells whole lines of an output that is cut, unless that were nothing", () => {
  expect(wholeLines("st\nsecond\nthird\n")).toBe("second\nthird\n");
  expect(wholeLines("\nsecond")).toBe("second");
  expect(wholeLines("one line without an end")).toBe("one line without an end");
  expect(wholeLines("one line\n")).toBe("one line\n");
  expect(wholeLines("")).toBe("");
});
