import { describe, expect, it } from "vitest";
import { collapseContext, parseConflicts } from "./conflictMarkers";

const MERGED = `one
<<<<<<< the batch branch
wood
||||||| before
straw
=======
stone
tiles
>>>>>>> 02-roof
two
`;

describe("a file with conflict markers", () => {
  it("is split into unchanged parts and conflicts", () => {
    expect(parseConflicts(MERGED)).toEqual([
      { kind: "same", lines: ["one"] },
      { kind: "conflict", ours: ["wood"], base: ["straw"], theirs: ["stone", "tiles"] },
      { kind: "same", lines: ["two"] },
    ]);
  });

  it("may lack the base, or have an empty side", () => {
    expect(parseConflicts("<<<<<<< a\n=======\nx\n>>>>>>> b\n")).toEqual([
      { kind: "conflict", ours: [], base: null, theirs: ["x"] },
    ]);
  });

  it("may have Windows line ends", () => {
    expect(parseConflicts("<<<<<<< a\r\n1\r\n=======\r\n2\r\n>>>>>>> b\r\n")).toEqual([
      { kind: "conflict", ours: ["1\r"], base: null, theirs: ["2\r"] },
    ]);
  });

  it("may have markers of any length, and nested ones", () => {
    expect(parseConflicts("<<<<<<<<< a\n=======\n=========\ny\n>>>>>>>>> b\n")).toEqual([
      { kind: "conflict", ours: ["======="], base: null, theirs: ["y"] },
    ]);
  });

  it("keeps lines that only look like markers", () => {
    const text = "<<<<<<< never closed\nx\n=======\n";
    expect(parseConflicts(text)).toEqual([{ kind: "same", lines: ["<<<<<<< never closed", "x", "======="] }]);
    expect(parseConflicts("")).toEqual([]);
  });

  it("is shown only around the conflicts", () => {
    const long = Array.from({ length: 10 }, (_, n) => `${n}`);
    const conflict = { kind: "conflict", ours: [], base: null, theirs: [] } as const;
    expect(
      collapseContext([{ kind: "same", lines: long }, conflict, { kind: "same", lines: ["end"] }]),
    ).toEqual([
      { kind: "gap", count: 7 },
      { kind: "same", lines: ["7", "8", "9"] },
      conflict,
      { kind: "same", lines: ["end"] },
    ]);
  });
});
