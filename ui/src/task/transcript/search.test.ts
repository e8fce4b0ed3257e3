import { describe, expect, it } from "vitest";
import { FakeTranscript, numberedLines } from "./fakeTranscript";
import { findMatches, findNext, type Position } from "./search";
import { TranscriptPages } from "./transcriptPages";

const START: Position = { page: 0, char: -1 };

async function opened(text: string, hole?: [number, number]) {
  const printed = new FakeTranscript(text, hole);
  const pages = new TranscriptPages(printed);
  await pages.grow();
  return { printed, pages };
}

async function searchFor(
  pages: TranscriptPages,
  query: string,
  from: Position,
  down = true,
): Promise<Position | null> {
  return findNext(pages, {
    query,
    from,
    down,
    signal: new AbortController().signal,
    progress: () => undefined,
  });
}

async function textAt(pages: TranscriptPages, spot: Position | null): Promise<string> {
  return spot === null ? "" : ((await pages.page(spot.page)).text.slice(spot.char).split("\n")[0] ?? "");
}

describe("search", () => {
  it("ignores case", () => {
    expect(findMatches("Roof, roof and ROOF", "roof")).toEqual([0, 6, 15]);
    expect(findMatches("anything", "")).toEqual([]);
    expect(findMatches("İ roof", "roof")).toEqual([2]);
  });

  it("searches in both directions and wraps around", async () => {
    const text = numberedLines(300_000, (n) => (n === 5 || n === 290_000 ? `the ROOF of ${n}` : `line ${n}`));
    const { pages } = await opened(text);
    const first = await searchFor(pages, "roof", START);
    expect(await textAt(pages, first)).toBe("ROOF of 5");
    const second = await searchFor(pages, "roof", first ?? START);
    expect(await textAt(pages, second)).toBe("ROOF of 290000");
    expect(await searchFor(pages, "roof", second ?? START)).toEqual(first);
    expect(await searchFor(pages, "roof", first ?? START, false)).toEqual(second);
    expect(await searchFor(pages, "roof", second ?? START, false)).toEqual(first);
    expect(await searchFor(pages, "gable", START)).toBe(null);
    expect(await searchFor(pages, "gable", { page: pages.last, char: 0 }, false)).toBe(null);
  });

  it("skips omitted ranges", async () => {
    const text = numberedLines(200_000, (n) => (n === 0 || n === 199_000 ? `roof ${n}` : `line ${n}`));
    const { pages } = await opened(text, [70_000, 2_000_000]);
    const last = await searchFor(pages, "roof", { page: 0, char: 0 });
    expect(await textAt(pages, last)).toBe("roof 199000");
    expect(await textAt(pages, await searchFor(pages, "roof", last ?? START, false))).toBe("roof 0");
  });

  it("reads in large parts, reports progress, and can be aborted", async () => {
    const { pages, printed } = await opened(numberedLines(1_000_000));
    const shares: number[] = [];
    const over = new AbortController();
    const before = printed.requests;
    const search = { query: "roof", from: START, down: true, signal: over.signal };
    expect(await findNext(pages, { ...search, progress: (share) => shares.push(share) })).toBe(null);
    expect(printed.requests - before).toBeLessThan((pages.last + 1) / 4);
    expect(shares.at(-1)).toBe(1);
    const halfway = { ...search, progress: (share: number) => share > 0.5 && over.abort() };
    const then = printed.requests;
    expect(await findNext(pages, halfway)).toBe(null);
    expect(printed.requests - then).toBeLessThan((pages.last + 1) / 6);
  });
});
