import { describe, expect, it } from "vitest";
import {
  formatAgentTime,
  formatCompact,
  formatCost,
  formatDiffstat,
  formatDuration,
  formatTime,
  formatTimeLeft,
  pluralize,
  secondsBetween,
  shortId,
} from "./format";

const NOW = Date.parse("2026-11-15T10:00:00.000Z");

describe("durations", () => {
  it.each([
    [0, "0s"],
    [-5, "0s"],
    [59.6, "1m 00s"],
    [182, "3m 02s"],
    [3840, "1h 04m"],
    [86400 * 2 + 3 * 3600, "2d 3h"],
  ])("%d seconds are %s", (seconds, words) => {
    expect(formatDuration(seconds)).toBe(words);
  });

  it("count to now if there is no end", () => {
    expect(secondsBetween("2026-11-15T09:59:00.000Z", null, NOW)).toBe(60);
    expect(secondsBetween("2026-11-15T09:59:00.000Z", "2026-11-15T09:59:30.000Z", NOW)).toBe(30);
  });

  it("that remain are approximate, and longer than expected once exceeded", () => {
    expect(formatTimeLeft("2026-11-15T10:06:00.000Z", NOW)).toBe("about 6m 00s left");
    expect(formatTimeLeft("2026-11-15T10:00:00.200Z", NOW)).toBe("about 1s left");
    expect(formatTimeLeft("2026-11-15T09:00:00.000Z", NOW)).toBe("longer than expected");
  });
});

describe("costs", () => {
  it("are money if known, else tokens, else empty", () => {
    expect(formatCost({ usd: 0.414, tokens: 9 })).toBe("$0.41");
    expect(formatCost({ usd: 0.001, tokens: 9 })).toBe("<$0.01");
    expect(formatCost({ usd: 0, tokens: 12_345 })).toBe("12k tok");
    expect(formatCost({ usd: 0, tokens: 0 })).toBe("");
  });
});

describe("numbers", () => {
  it.each([
    [999, "999"],
    [1500, "1.5k"],
    [9_999, "10k"],
    [99_499, "99k"],
    [999_999, "1.0M"],
    [1_500_000, "1.5M"],
  ])("%d is %s", (n, words) => {
    expect(formatCompact(n)).toBe(words);
  });

  it("have the right plural", () => {
    expect(pluralize(1, "task")).toBe("1 task");
    expect(pluralize(2, "task")).toBe("2 tasks");
    expect(pluralize(2, "batch", "batches")).toBe("2 batches");
    expect(pluralize(63536, "line")).toBe("63,536 lines");
  });

  it("of a diffstat use a minus sign", () => {
    expect(formatDiffstat({ files: 1, added: 182, removed: 12 })).toBe("+182 −12");
    expect(formatDiffstat({ files: 2, added: 0, removed: 0 })).toBe("2 files");
    expect(formatDiffstat({ files: 0, added: 0, removed: 0 })).toBe("no change");
  });
});

describe("times", () => {
  it("of another day include the day", () => {
    const today = formatTime("2026-11-15T10:00:00.000Z", NOW);
    expect(today).toMatch(/^\d\d:\d\d$/);
    expect(formatTime("2026-11-12T10:00:00.000Z", NOW)).toMatch(new RegExp(`, ${today}$`));
    expect(today).not.toContain(",");
  });
});

it("an id is shortened", () => {
  expect(shortId("0123456789ab")).toBe("01234567");
});

it("agent time is shown if it is more than the time of work", () => {
  expect(formatAgentTime(41, 43)).toBe(" (43s of agent time)");
  expect(formatAgentTime(43, 41)).toBe("");
  expect(formatAgentTime(43, 43.2)).toBe("");
});
