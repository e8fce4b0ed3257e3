import { describe, expect, it } from "vitest";
import { BLANK } from "./draft";
import { forget, type Kept, keep, kept, NEW, place } from "./kept";

function store(full = false) {
  const items = new Map<string, string>();
  return {
    getItem: (name: string) => items.get(name) ?? null,
    removeItem: (name: string) => void items.delete(name),
    setItem: (name: string, text: string) => {
      if (full) throw new Error("there is no room");
      items.set(name, text);
    },
  };
}

const written: Kept = {
  base: NEW,
  draft: { ...BLANK, title: "Roof" },
  text: "",
  mode: "fields",
  at: "2026-11-15T10:00:00.000Z",
};

describe("what was written and not saved", () => {
  it("is there again, for that task of that project and for no other", () => {
    const shelf = store();
    keep(shelf, place(null, "a"), written);
    expect(kept(shelf, place(null, "a"))).toEqual(written);
    expect(kept(shelf, place(null, null))).toBeNull();
    expect(kept(shelf, place("p", "a"))).toBeNull();
  });

  it("is gone once it is forgotten", () => {
    const shelf = store();
    keep(shelf, "x", written);
    forget(shelf, "x");
    expect(kept(shelf, "x")).toBeNull();
  });

  it("is nothing where it can't be understood, and where nothing can be kept", () => {
    const shelf = store();
    for (const text of [
      "{",
      "[]",
      '{"draft": {}}',
      JSON.stringify({ ...written, draft: { ...BLANK, needs: [1] } }),
    ]) {
      shelf.setItem("x", text);
      expect(kept(shelf, "x"), text).toBeNull();
    }
    const full = store(true);
    keep(full, "x", written);
    expect(kept(full, "x")).toBeNull();
  });
});
