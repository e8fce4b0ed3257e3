import { describe, expect, it } from "vitest";
import { nextChunks, type RenderChunk } from "./progressiveRender";

const part = (key: string, weight = 10): RenderChunk => ({ key, weight });
const [a, b, c] = [part("a"), part("b"), part("c")];

describe("the next share of a drawing", () => {
  it("is about as much as it may be, and in the end all", () => {
    const wanted = [a, b, c];
    const first = nextChunks([], wanted, 20);
    expect(first).toEqual([a, b]);
    expect(nextChunks(first, wanted, 20)).toBe(wanted);
  });

  it("is one part at least, however heavy", () => {
    expect(nextChunks([], [part("heavy", 1000), b], 20).map(({ key }) => key)).toEqual(["heavy"]);
  });

  it("drops at once what is not wanted any more", () => {
    expect(nextChunks([a, b], [b], 20)).toEqual([b]);
    expect(nextChunks([a, b], [], 20)).toEqual([]);
  });

  it("keeps what is other than it was until it is its turn", () => {
    const [newer, newest] = [part("a"), part("b")];
    const wanted = [newer, newest];
    const first = nextChunks([a, b], wanted, 10);
    expect(first[0]).toBe(newer);
    expect(first[1]).toBe(b);
    expect(nextChunks(first, wanted, 10)).toBe(wanted);
  });

  it("has what is wanted in its order", () => {
    expect(nextChunks([c], [a, b, c], 10)).toEqual([a, c]);
  });
});
