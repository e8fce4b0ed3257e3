import { describe, expect, it } from "vitest";
import { nextChunks, type RenderChunk } from "./progressiveRender";

const part = (key: string, weight = 10): RenderChunk => ({ key, weight });
const [a, b, c] = [part("a"), part("b"), part("c")];

describe("progressive rendering", () => {
  it("adds about the allowed amount, and in the end everything", () => {
    const wanted = [a, b, c];
    const first = nextChunks([], wanted, 20);
    expect(first).toEqual([a, b]);
    expect(nextChunks(first, wanted, 20)).toBe(wanted);
  });

  it("adds at least one part, however large", () => {
    expect(nextChunks([], [part("heavy", 1000), b], 20).map(({ key }) => key)).toEqual(["heavy"]);
  });

  it("removes unwanted parts at once", () => {
    expect(nextChunks([a, b], [b], 20)).toEqual([b]);
    expect(nextChunks([a, b], [], 20)).toEqual([]);
  });

  it("keeps the old version of a changed part until its turn", () => {
    const [newer, newest] = [part("a"), part("b")];
    const wanted = [newer, newest];
    const first = nextChunks([a, b], wanted, 10);
    expect(first[0]).toBe(newer);
    expect(first[1]).toBe(b);
    expect(nextChunks(first, wanted, 10)).toBe(wanted);
  });

  it("keeps the wanted order", () => {
    expect(nextChunks([c], [a, b, c], 10)).toEqual([a, c]);
  });
});
