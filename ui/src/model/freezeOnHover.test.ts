import { describe, expect, it } from "vitest";
import { type Arrangement, EMPTY_ARRANGEMENT } from "./arrangement";
import type { Column } from "./columns";
import {
  collapseEmpty,
  freezeColumns,
  frozenColumns,
  KEYS_IDLE_MS,
  NO_INTERACTION,
  POINTER_IDLE_MS,
  unfreezeTime,
} from "./freezeOnHover";

const NONE: ReadonlySet<Column> = new Set();
const at = (columns: Partial<Arrangement>): Arrangement => ({ ...EMPTY_ARRANGEMENT, ...columns });
const TODO: ReadonlySet<Column> = new Set(["todo"]);

describe("who holds what", () => {
  it("is held by a pointer that moved a moment ago, and by the focus", () => {
    const hands = { pointer: { column: "todo", at: 1000 }, keys: { column: "done", at: 1000 } } as const;
    expect([...frozenColumns(hands, 1000 + POINTER_IDLE_MS - 1)]).toEqual(["todo", "done"]);
  });

  it("is let go by a pointer that rests, and by a focus that was left behind", () => {
    const hands = { pointer: { column: "todo", at: 0 }, keys: { column: "done", at: 0 } } as const;
    expect([...frozenColumns(hands, POINTER_IDLE_MS)]).toEqual(["done"]);
    expect([...frozenColumns(hands, KEYS_IDLE_MS)]).toEqual([]);
  });

  it("tells when that will be, so that somebody looks then", () => {
    const hands = { pointer: { column: "todo", at: 0 }, keys: { column: "done", at: 0 } } as const;
    expect(unfreezeTime(hands, 1)).toBe(POINTER_IDLE_MS);
    expect(unfreezeTime(hands, POINTER_IDLE_MS)).toBe(KEYS_IDLE_MS);
    expect(unfreezeTime(NO_INTERACTION, 0)).toBeNull();
  });
});

describe("a held column", () => {
  const shown = at({ todo: ["a", "b", "c"] });

  it("keeps its cards in their places, whatever became of them", () => {
    const now = at({ todo: ["a", "c"], running: ["b"] });
    expect(freezeColumns(shown, now, TODO)).toEqual(at({ todo: ["a", "b", "c"] }));
  });

  it("takes what belongs there now below, never between", () => {
    const now = at({ todo: ["new", "a", "b", "c"] });
    expect(freezeColumns(shown, now, TODO).todo).toEqual(["a", "b", "c", "new"]);
  });

  it("loses what is in no source any more, or is not looked at", () => {
    expect(freezeColumns(shown, at({ todo: ["a", "c"] }), TODO).todo).toEqual(["a", "c"]);
  });

  it("leaves all other columns to change", () => {
    const before = at({ todo: ["a"], running: ["r"] });
    const now = at({ running: [], done: ["r"], todo: ["a"] });
    expect(freezeColumns(before, now, TODO)).toEqual(now);
  });

  it("shows no card at two places", () => {
    const both: ReadonlySet<Column> = new Set(["todo", "running"]);
    const before = at({ todo: ["a"], running: ["b"] });
    const now = at({ todo: ["b"], running: ["a"] });
    expect(freezeColumns(before, now, both)).toEqual(before);
  });

  it("puts everything where it belongs when it is let go", () => {
    const now = at({ todo: ["a", "c"], running: ["b"] });
    expect(freezeColumns(freezeColumns(shown, now, TODO), now, NONE)).toEqual(now);
  });

  it("is the same one, and not drawn again, when nothing in it changed", () => {
    const now = at({ todo: ["a", "c"], running: ["b"] });
    expect(freezeColumns(shown, now, TODO)).toBe(shown);
  });
});

describe("a narrow column", () => {
  it("is one that is empty", () => {
    const found = collapseEmpty(null, at({ todo: ["a"] }), NONE);
    expect(found.has("todo")).toBe(false);
    expect(found.has("running")).toBe(true);
  });

  it("becomes wide only when nothing is held, as that moves all others", () => {
    const before = collapseEmpty(null, at({ todo: ["a"] }), NONE);
    const now = at({ todo: ["a"], running: ["b"] });
    expect(collapseEmpty(before, now, TODO)).toBe(before);
    expect(collapseEmpty(before, now, NONE).has("running")).toBe(false);
  });
});
