import { describe, expect, it } from "vitest";
import {
  createMatcher,
  type Filter,
  filterOptions,
  NO_FILTER,
  parseFilter,
  sourceOf,
  toggleFilter,
  withFilter,
} from "./filter";
import { sampleRun, sampleTask } from "./testData";

const words = (query: string): Filter => ({ ...NO_FILTER, query });

describe("a search", () => {
  const roof = sampleTask("02-roof", {
    title: "Put the Roof on",
    phase: "Outside",
    batch: sampleRun("02-roof", { agent: "claude", reason: "needs 01-walls" }),
  });

  it("finds words in id, title, source, phase, agent and reason", () => {
    for (const query of ["roof", "PUT the", "tasks/02", "outside", "claude", "needs walls", "02 claude"])
      expect(createMatcher(words(query))(roof), query).toBe(true);
  });

  it("requires every word", () => {
    expect(createMatcher(words("roof gemini"))(roof)).toBe(false);
  });

  it("uses the current state of a task", () => {
    const later = { ...roof, title: "Take the roof off" };
    expect(createMatcher(words("off"))(roof)).toBe(false);
    expect(createMatcher(words("off"))(later)).toBe(true);
  });
});

describe("a filter", () => {
  const mine = sampleTask("a", { agent: "claude", phase: "One" });
  const other = sampleTask("b", {
    agent: "codex",
    phase: "One",
    batch: sampleRun("b", { agent: "shell", status: "failed" }),
  });

  it("matches any value of a kind, and requires every kind", () => {
    const agents = toggleFilter(toggleFilter(NO_FILTER, "agent", "claude"), "agent", "shell");
    expect([mine, other].filter(createMatcher(agents)).map(({ id }) => id)).toEqual(["a", "b"]);
    const both = toggleFilter(toggleFilter(NO_FILTER, "phase", "One"), "status", "failed");
    expect([mine, other].filter(createMatcher(both)).map(({ id }) => id)).toEqual(["b"]);
  });

  it("can be toggled off again", () => {
    expect(toggleFilter(toggleFilter(NO_FILTER, "agent", "claude"), "agent", "claude")).toEqual(NO_FILTER);
  });

  it("offers values with counts, and keeps selected ones", () => {
    expect([...filterOptions([mine, other], "phase", ["Two"])]).toEqual([
      ["Two", 0],
      ["One", 2],
    ]);
  });

  it("is stored in the URL beside other parameters", () => {
    const filter = toggleFilter(toggleFilter(words("a b"), "batch", "7f3a"), "source", "docs/tasks & more");
    const search = withFilter(new URLSearchParams("task=x&batch=y&q=old"), filter);
    expect(parseFilter(new URLSearchParams(search.toString()))).toEqual(filter);
    expect(search.get("batch")).toBe("y");
    expect(withFilter(search, NO_FILTER).toString()).toBe("task=x&batch=y");
  });
});

describe("a source", () => {
  it("is the folder for one-task files, and the file for others", () => {
    expect(sourceOf(sampleTask("a", { source: "docs/tasks/a.md:3" }))).toBe("docs/tasks");
    expect(sourceOf(sampleTask("a", { source: "TODO.md:3", format: "todo" }))).toBe("TODO.md");
    expect(sourceOf(sampleTask("a", { source: null }))).toBe("");
  });
});
