import { describe, expect, it } from "vitest";
import type { Comment } from "./commentDrafts";
import { anchorAt, formatFeedback, formatLocation } from "./feedback";
import type { Line } from "./parseDiff";

const comment = (part: Partial<Comment>): Comment => ({
  id: 1,
  path: "src/roof.py",
  side: "new",
  from: 3,
  to: 3,
  quote: ["+wood"],
  more: 0,
  attempt: 2,
  text: "Make it of stone.",
  ...part,
});
const line = (part: Partial<Line>): Line => ({
  kind: "same",
  old: 0,
  new: 0,
  text: "",
  endsWithCr: false,
  noNewline: false,
  ...part,
});

describe("comments as feedback", () => {
  it("have file, line, quote and comment", () => {
    expect(formatFeedback([comment({})], 2)).toBe(
      "A comment on the changes, by file and line:\n\nsrc/roof.py:3\n> +wood\nMake it of stone.",
    );
  });

  it("are sorted by file and line, with ranges and older attempts marked", () => {
    const text = formatFeedback(
      [
        comment({ id: 1, from: 9, to: 11, quote: [" a", "-b", "+c"], text: "Why?\nReally." }),
        comment({ id: 2, path: "a.py", attempt: 1, text: "Too long." }),
        comment({ id: 3, side: "old", quote: ["-x"], text: "Keep it." }),
      ],
      2,
    );
    expect(text).toBe(
      [
        "3 comments on the changes, by file and line:",
        "a.py:3, in attempt 1\n> +wood\nToo long.",
        "src/roof.py:3, old version\n> -x\nKeep it.",
        "src/roof.py:9-11\n>  a\n> -b\n> +c\nWhy?\nReally.",
      ].join("\n\n"),
    );
  });

  it("limit quotes, and spell out names", () => {
    const many = Array.from({ length: 200_000 }, (_, n) => line({ new: n + 1, text: "x".repeat(1000) }));
    const place = anchorAt("src/roof.py", many, "new", 2);
    expect(place).toMatchObject({ from: 1, to: 200_000, more: 199_980 });
    const long = formatFeedback([comment({ ...place })], 2);
    expect(long).toContain("> … 199980 more lines");
    expect(long.length).toBeLessThan(10_000);
    expect(formatLocation({ path: "a\n\u202eb", from: 1, to: 2 })).toBe("a␊<U+202E>b:1-2");
  });
});

describe("the anchor of a comment", () => {
  const lines = [
    line({ old: 4, new: 4, text: "a" }),
    line({ kind: "removed", old: 5, text: "b" }),
    line({ kind: "added", new: 5, text: "c" }),
  ];

  it("uses the selected side", () => {
    expect(anchorAt("p", lines, "new", 1)).toMatchObject({
      side: "new",
      from: 4,
      to: 5,
      quote: [" a", "-b", "+c"],
    });
    expect(anchorAt("p", lines, "old", 1)).toMatchObject({ side: "old", from: 4, to: 5 });
  });

  it("uses the other side if the lines exist only there", () => {
    expect(anchorAt("p", [lines[1] as Line], "new", 1)).toMatchObject({ side: "old", from: 5, to: 5 });
    expect(anchorAt("p", [line({})], "new", 1)).toBeNull();
  });
});
