import { describe, expect, it } from "vitest";
import {
  describeSource,
  formatValue,
  type Kind,
  parseValue,
  summarizeValue,
  toggleChoice,
  type Value,
  withEntry,
} from "./values";

describe("a value in its field", () => {
  it.each<[Kind, Value, string]>([
    ["duration", 1800, "30m"],
    ["duration", 5400, "1h30m"],
    ["duration", 0.5, "0.5"],
    ["size", 107374182400, "100GB"],
    ["size", 64 * 1024, "64KB"],
    ["size", 1000, "1000B"],
    ["number", 4, "4"],
    ["number", "auto", "auto"],
    ["text", "make test", "make test"],
    ["text", null, ""],
    ["amount", "20usd 500ktok", "20usd 500ktok"],
    ["list", ["a", "b"], "a\nb"],
    ["table", {}, ""],
    ["table", { claude: "opus" }, '{\n  "claude": "opus"\n}'],
  ])("of kind %s: %j is %j", (kind, value, text) => {
    expect(formatValue(kind, value)).toBe(text);
  });
});

describe("the value sent for typed text", () => {
  it.each<[Kind, string, Value]>([
    ["duration", "45m", "45m"],
    ["duration", "90", 90],
    ["number", " 7 ", 7],
    ["number", "auto", "auto"],
    ["number", "many", "many"],
    ["text", "  ", ""],
    ["text", "make  test", "make  test"],
    ["list", "a\n\n  b ", ["a", "b"]],
    ["table", "", {}],
    ["table", '{"claude": "opus"}', { claude: "opus" }],
  ])("of kind %s: %j is %j", (kind, text, value) => {
    expect(parseValue(kind, text)).toEqual(value);
  });

  it.each(["[1]", "3", "{claude: opus}"])("throws if a table is invalid: %s", (text) => {
    expect(() => parseValue("table", text)).toThrow(SyntaxError);
  });

  it.each<[Kind, Value]>([
    ["duration", 5400],
    ["list", ["a", "b"]],
    ["table", { a: ["x"] }],
  ])("comes back as it was: %s", (kind, value) => {
    const back = parseValue(kind, formatValue(kind, value));
    expect(formatValue(kind, back)).toBe(formatValue(kind, value));
  });
});

describe("as text", () => {
  it.each<[Kind, Value, string]>([
    ["text", null, "none"],
    ["list", [], "none"],
    ["table", {}, "none"],
    ["switch", true, "on"],
    ["list", ["slack://…", "ntfy://…"], "slack://…, ntfy://…"],
  ])("of kind %s, %j is %j", (kind, value, words) => {
    expect(summarizeValue(kind, value)).toBe(words);
  });

  it.each([
    [{ layer: "default", at: null }, "default"],
    [{ layer: "saved", at: "saved setting budget" }, "saved here"],
    [{ layer: "repository", at: "plait.toml:2" }, "plait.toml:2"],
    [{ layer: "environment", at: "PLAIT_RETRIES" }, "PLAIT_RETRIES"],
    [{ layer: "user", at: "~/config.toml:1" }, "your own config, ~/config.toml:1"],
  ] as const)("the source %o is %s", (given, words) => {
    expect(describeSource(given)).toBe(words);
  });
});

describe("a partial change", () => {
  it("keeps the other choices, in their order", () => {
    expect(toggleChoice(["failed"], "done", true, ["done", "failed"])).toEqual(["done", "failed"]);
    expect(toggleChoice(["claude"], "codex", true)).toEqual(["claude", "codex"]);
    expect(toggleChoice(["claude", "codex"], "claude", false)).toEqual(["codex"]);
    expect(toggleChoice(null, "claude", true)).toEqual(["claude"]);
  });

  it("keeps the other entries of a table", () => {
    expect(withEntry({ claude: "opus" }, "codex", "o5")).toEqual({ claude: "opus", codex: "o5" });
    expect(withEntry({ claude: "opus", codex: "o5" }, "claude", "")).toEqual({ codex: "o5" });
    expect(withEntry(null, "codex", "o5")).toEqual({ codex: "o5" });
  });
});
