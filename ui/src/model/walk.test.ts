import { describe, expect, it } from "vitest";
import { EMPTY } from "./arrangement";
import { firstOf, step } from "./walk";

const shown = { ...EMPTY, todo: ["a", "b", "c"], running: ["r"], failed: ["f", "g"] };

describe("a step", () => {
  it("leads up and down within the column, and stays at its ends", () => {
    expect(step(shown, "a", "down")).toBe("b");
    expect(step(shown, "b", "up")).toBe("a");
    expect(step(shown, "a", "up")).toBe("a");
    expect(step(shown, "c", "down")).toBe("c");
    expect(step(shown, "b", "first")).toBe("a");
    expect(step(shown, "b", "last")).toBe("c");
  });

  it("leads to the next column that has cards, as far down as it goes", () => {
    expect(step(shown, "c", "right")).toBe("r");
    expect(step(shown, "r", "right")).toBe("f");
    expect(step(shown, "g", "left")).toBe("r");
    expect(step(shown, "f", "right")).toBe("f");
  });

  it("leads from nowhere, or from a card that is gone, to the first", () => {
    expect(step(shown, null, "down")).toBe("a");
    expect(step(shown, "gone", "up")).toBe("a");
    expect(firstOf(EMPTY)).toBeNull();
  });
});
