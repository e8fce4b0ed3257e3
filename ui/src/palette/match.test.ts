import { describe, expect, it } from "vitest";
import { type Findable, matchWords, rank } from "./match";

const item = (title: string, more: Partial<Findable> = {}): Findable => ({ key: title, title, ...more });
const titles = (query: string, items: readonly Findable[], recent: readonly string[] = []) =>
  rank(query, items, recent).map(({ item: { title } }) => title);

describe("a query matches", () => {
  it("as a substring anywhere", () => {
    expect(matchWords("roof", "02-roof of the house")?.marks).toEqual([3, 4, 5, 6]);
  });

  it("as initials of words", () => {
    expect(matchWords("ep", "execute parallel")?.marks).toEqual([0, 8]);
  });

  it("as words in any order", () => {
    expect(matchWords("house roof", "02-roof of the house")).not.toBeNull();
    expect(matchWords("house door", "02-roof of the house")).toBeNull();
  });

  it("not if the letters are too far apart", () => {
    expect(matchWords("zzz", "execute parallel")).toBeNull();
    expect(matchWords("xtl", "execute parallel")).toBeNull();
  });
});

describe("matches", () => {
  it("are ranked: prefix, then word, then part of a word", () => {
    const items = [item("unroofed"), item("the roof"), item("roof tiles"), item("roof")];
    expect(titles("roof", items)).toEqual(["roof", "roof tiles", "the roof", "unroofed"]);
  });

  it("keep the given order if equal", () => {
    expect(titles("task", [item("task b"), item("task a"), item("task c")])).toEqual([
      "task b",
      "task a",
      "task c",
    ]);
  });

  it("are found by other words, which count less", () => {
    const items = [item("Run all", { keywords: "roof" }), item("roof")];
    expect(titles("roof", items)).toEqual(["roof", "Run all"]);
  });

  it("are found by other words only if these match the whole query", () => {
    expect(titles("wall", [item("isolation", { keywords: "worktree or in place for all" })])).toEqual([]);
  });

  it("list recently used items first", () => {
    const items = [item("alpha"), item("beta"), item("gamma")];
    expect(titles("", items, ["gamma", "beta"])).toEqual(["gamma", "beta", "alpha"]);
    expect(titles("task", [item("task a"), item("task b")], ["task b"])).toEqual(["task b", "task a"]);
  });

  it("list disabled items last", () => {
    const items = [item("pause", { disabled: "Nothing runs." }), item("pause too")];
    expect(titles("pause", items)).toEqual(["pause too", "pause"]);
  });

  it("are limited in number", () => {
    const many = Array.from({ length: 1000 }, (_, n) => item(`task ${n}`));
    expect(rank("task", many)).toHaveLength(50);
    expect(titles("task 999", many)[0]).toBe("task 999");
  });
});
