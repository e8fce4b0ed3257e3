import { describe, expect, it } from "vitest";
import { EMPTY_ARRANGEMENT } from "./arrangement";
import { firstCard, nextCard } from "./cardNavigation";

const shown = { ...EMPTY_ARRANGEMENT, todo: ["a", "b", "c"], running: ["r"], failed: ["f", "g"] };

describe("moving between cards", () => {
  it("goes up and down within the column, and stops at its ends", () => {
    expect(nextCard(shown, "a", "down")).toBe("b");
    expect(nextCard(shown, "b", "up")).toBe("a");
    expect(nextCard(shown, "a", "up")).toBe("a");
    expect(nextCard(shown, "c", "down")).toBe("c");
    expect(nextCard(shown, "b", "first")).toBe("a");
    expect(nextCard(shown, "b", "last")).toBe("c");
  });

  it("goes to the next column with cards, at the same height if possible", () => {
    expect(nextCard(shown, "c", "right")).toBe("r");
    expect(nextCard(shown, "r", "right")).toBe("f");
    expect(nextCard(shown, "g", "left")).toBe("r");
    expect(nextCard(shown, "f", "right")).toBe("f");
  });

  it("goes to the first card if there is no current one", () => {
    expect(nextCard(shown, null, "down")).toBe("a");
    expect(nextCard(shown, "gone", "up")).toBe("a");
    expect(firstCard(EMPTY_ARRANGEMENT)).toBeNull();
  });
});
