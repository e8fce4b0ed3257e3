import { describe, expect, it } from "vitest";
import { EMPTY_ARRANGEMENT } from "./arrangement";
import { firstCard, nextCard } from "./cardNavigation";

const shown = { ...EMPTY_ARRANGEMENT, todo: ["a", "b", "c"], running: ["r"], failed: ["f", "g"] };

describe("a step", () => {
  it("leads up and down within the column, and stays at its ends", () => {
    expect(nextCard(shown, "a", "down")).toBe("b");
    expect(nextCard(shown, "b", "up")).toBe("a");
    expect(nextCard(shown, "a", "up")).toBe("a");
    expect(nextCard(shown, "c", "down")).toBe("c");
    expect(nextCard(shown, "b", "first")).toBe("a");
    expect(nextCard(shown, "b", "last")).toBe("c");
  });

  it("leads to the next column that has cards, as far down as it goes", () => {
    expect(nextCard(shown, "c", "right")).toBe("r");
    expect(nextCard(shown, "r", "right")).toBe("f");
    expect(nextCard(shown, "g", "left")).toBe("r");
    expect(nextCard(shown, "f", "right")).toBe("f");
  });

  it("leads from nowhere, or from a card that is gone, to the first", () => {
    expect(nextCard(shown, null, "down")).toBe("a");
    expect(nextCard(shown, "gone", "up")).toBe("a");
    expect(firstCard(EMPTY_ARRANGEMENT)).toBeNull();
  });
});
