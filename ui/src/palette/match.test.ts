import { describe, expect, it } from "vitest";
import { type Findable, matchWords, rank } from "./match";

const item = (title: string, more: Partial<Findable> = {}): Findable => ({ key: title, title, ...more });
const titles = (query: string, items: readonly Findable[], recent: readonly string[] = []) =>
  rank(query, items, recent).map(({ item: { title } }) => title);

describe("letters fit a text", () => {
  it("in one piece, anywhere", () => {
    expect(matchWords("roof", "02-roof of the house")?.marks).toEqual([3, 4, 5, 6]);
  });

  it("as the first letters of words", () => {
    expect(matchWords("ep", "execute parallel")?.marks).toEqual([0, 8]);
  });

  it("as words in any order", () => {
    expect(matchWords("house roof", "02-roof of the house")).not.toBeNull();
    expect(matchWords("house door", "02-roof of the house")).toBeNull();
  });

  it("not by chance", () => {
    expect(matchWords("zzz", "execute parallel")).toBeNull();
    expect(matchWords("xtl", "execute parallel")).toBeNull();
  });
});

describe("what is found", () => {
  it("is ranked: a beginning before a word before a piece of one", () => {
    const items = [item("unroofed"), item("the roof"), item("roof tiles"), item("roof")];
    expect(titles("roof", items)).toEqual(["roof", "roof tiles", "the roof", "unroofed"]);
  });

  it("stays as it came among equals", () => {
    expect(titles("task", [item("task b"), item("task a"), item("task c")])).toEqual([
      "task b",
      "task a",
      "task c",
    ]);
  });

  it("is found by its other words, which count less", () => {
    const items = [item("Run all", { keywords: "roof" }), item("roof")];
    expect(titles("roof", items)).toEqual(["roof", "Run all"]);
  });

  it("is found by its other words only where they hold all of it", () => {
    expect(titles("wall", [item("isolation", { keywords: "worktree or in place for all" })])).toEqual([]);
  });

  it("has what was used lately first", () => {
    const items = [item("alpha"), item("beta"), item("gamma")];
    expect(titles("", items, ["gamma", "beta"])).toEqual(["gamma", "beta", "alpha"]);
    expect(titles("task", [item("task a"), item("task b")], ["task b"])).toEqual(["task b", "task a"]);
  });

  it("has what can't be done after what can", () => {
    const items = [item("pause", { disabled: "Nothing runs." }), item("pause too")];
    expect(titles("pause", items)).toEqual(["pause too", "pause"]);
  });

  it("is at most so much", () => {
    const many = Array.from({ length: 1000 }, (_, n) => item(`task ${n}`));
    expect(rank("task", many)).toHaveLength(50);
    expect(titles("task 999", many)[0]).toBe("task 999");
  });
});
