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

describe("freezing columns", () => {
  it("freezes the column of a pointer that just moved, and of the focus", () => {
    const hands = { pointer: { column: "todo", at: 1000 }, keys: { column: "done", at: 1000 } } as const;
    expect([...frozenColumns(hands, 1000 + POINTER_IDLE_MS - 1)]).toEqual(["todo", "done"]);
  });

  it("releases the column of an idle pointer, and of an idle focus", () => {
    const hands = { pointer: { column: "todo", at: 0 }, keys: { column: "done", at: 0 } } as const;
    expect([...frozenColumns(hands, POINTER_IDLE_MS)]).toEqual(["done"]);
    expect([...frozenColumns(hands, KEYS_IDLE_MS)]).toEqual([]);
  });

  it("returns when the next column is released", () => {
    const hands = { pointer: { column: "todo", at: 0 }, keys: { column: "done", at: 0 } } as const;
    expect(unfreezeTime(hands, 1)).toBe(POINTER_IDLE_MS);
    expect(unfreezeTime(hands, POINTER_IDLE_MS)).toBe(KEYS_IDLE_MS);
    expect(unfreezeTime(NO_INTERACTION, 0)).toBeNull();
  });
});

describe("a frozen column", () => {
  const shown = at({ todo: ["a", "b", "c"] });

  it("keeps its cards in place, whatever their status", () => {
    const now = at({ todo: ["a", "c"], running: ["b"] });
    expect(freezeColumns(shown, now, TODO)).toEqual(at({ todo: ["a", "b", "c"] }));
  });

  it("adds new cards at the bottom", () => {
    const now = at({ todo: ["new", "a", "b", "c"] });
    expect(freezeColumns(shown, now, TODO).todo).toEqual(["a", "b", "c", "new"]);
  });

  it("drops cards that left their source or are filtered out", () => {
    expect(freezeColumns(shown, at({ todo: ["a", "c"] }), TODO).todo).toEqual(["a", "c"]);
  });

  it("doesn't affect other columns", () => {
    const before = at({ todo: ["a"], running: ["r"] });
    const now = at({ running: [], done: ["r"], todo: ["a"] });
    expect(freezeColumns(before, now, TODO)).toEqual(now);
  });

  it("never shows a card twice", () => {
    const both: ReadonlySet<Column> = new Set(["todo", "running"]);
    const before = at({ todo: ["a"], running: ["b"] });
    const now = at({ todo: ["b"], running: ["a"] });
    expect(freezeColumns(before, now, both)).toEqual(before);
  });

  it("moves every card to its column when it is released", () => {
    const now = at({ todo: ["a", "c"], running: ["b"] });
    expect(freezeColumns(freezeColumns(shown, now, TODO), now, NONE)).toEqual(now);
  });

  it("keeps its identity if nothing changed", () => {
    const now = at({ todo: ["a", "c"], running: ["b"] });
    expect(freezeColumns(shown, now, TODO)).toBe(shown);
  });
});

describe("a narrow column", () => {
  it("is an empty one", () => {
    const found = collapseEmpty(null, at({ todo: ["a"] }), NONE);
    expect(found.has("todo")).toBe(false);
    expect(found.has("running")).toBe(true);
  });

  it("becomes wide only while nothing is frozen", () => {
    const before = collapseEmpty(null, at({ todo: ["a"] }), NONE);
    const now = at({ todo: ["a"], running: ["b"] });
    expect(collapseEmpty(before, now, TODO)).toBe(before);
    expect(collapseEmpty(before, now, NONE).has("running")).toBe(false);
  });
});
