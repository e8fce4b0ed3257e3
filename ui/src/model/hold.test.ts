import { describe, expect, it } from "vitest";
import { type Arrangement, EMPTY } from "./arrangement";
import type { Column } from "./columns";
import { heldBy, hold, KEYS_STILL, letGoAt, NO_HANDS, narrow, POINTER_STILL } from "./hold";

const NONE: ReadonlySet<Column> = new Set();
const at = (columns: Partial<Arrangement>): Arrangement => ({ ...EMPTY, ...columns });
const TODO: ReadonlySet<Column> = new Set(["todo"]);

describe("who holds what", () => {
  it("is held by a pointer that moved a moment ago, and by the focus", () => {
    const hands = { pointer: { column: "todo", at: 1000 }, keys: { column: "done", at: 1000 } } as const;
    expect([...heldBy(hands, 1000 + POINTER_STILL - 1)]).toEqual(["todo", "done"]);
  });

  it("is let go by a pointer that rests, and by a focus that was left behind", () => {
    const hands = { pointer: { column: "todo", at: 0 }, keys: { column: "done", at: 0 } } as const;
    expect([...heldBy(hands, POINTER_STILL)]).toEqual(["done"]);
    expect([...heldBy(hands, KEYS_STILL)]).toEqual([]);
  });

  it("tells when that will be, so that somebody looks then", () => {
    const hands = { pointer: { column: "todo", at: 0 }, keys: { column: "done", at: 0 } } as const;
    expect(letGoAt(hands, 1)).toBe(POINTER_STILL);
    expect(letGoAt(hands, POINTER_STILL)).toBe(KEYS_STILL);
    expect(letGoAt(NO_HANDS, 0)).toBeNull();
  });
});

describe("a held column", () => {
  const shown = at({ todo: ["a", "b", "c"] });

  it("keeps its cards in their places, whatever became of them", () => {
    const now = at({ todo: ["a", "c"], running: ["b"] });
    expect(hold(shown, now, TODO)).toEqual(at({ todo: ["a", "b", "c"] }));
  });

  it("takes what belongs there now below, never between", () => {
    const now = at({ todo: ["new", "a", "b", "c"] });
    expect(hold(shown, now, TODO).todo).toEqual(["a", "b", "c", "new"]);
  });

  it("loses what is in no source any more, or is not looked at", () => {
    expect(hold(shown, at({ todo: ["a", "c"] }), TODO).todo).toEqual(["a", "c"]);
  });

  it("leaves all other columns to change", () => {
    const before = at({ todo: ["a"], running: ["r"] });
    const now = at({ running: [], done: ["r"], todo: ["a"] });
    expect(hold(before, now, TODO)).toEqual(now);
  });

  it("shows no card at two places", () => {
    const both: ReadonlySet<Column> = new Set(["todo", "running"]);
    const before = at({ todo: ["a"], running: ["b"] });
    const now = at({ todo: ["b"], running: ["a"] });
    expect(hold(before, now, both)).toEqual(before);
  });

  it("puts everything where it belongs when it is let go", () => {
    const now = at({ todo: ["a", "c"], running: ["b"] });
    expect(hold(hold(shown, now, TODO), now, NONE)).toEqual(now);
  });

  it("is the same one, and not drawn again, when nothing in it changed", () => {
    const now = at({ todo: ["a", "c"], running: ["b"] });
    expect(hold(shown, now, TODO)).toBe(shown);
  });
});

describe("a narrow column", () => {
  it("is one that is empty", () => {
    const found = narrow(null, at({ todo: ["a"] }), NONE);
    expect(found.has("todo")).toBe(false);
    expect(found.has("running")).toBe(true);
  });

  it("becomes wide only when nothing is held, as that moves all others", () => {
    const before = narrow(null, at({ todo: ["a"] }), NONE);
    const now = at({ todo: ["a"], running: ["b"] });
    expect(narrow(before, now, TODO)).toBe(before);
    expect(narrow(before, now, NONE).has("running")).toBe(false);
  });
});
