import { describe, expect, it } from "vitest";
import { FakeTranscript, numberedLines } from "./fakeTranscript";
import { MAX_PAGES, PAGE_BYTES, type Page, TranscriptPages } from "./transcriptPages";

async function opened(printed: FakeTranscript): Promise<TranscriptPages> {
  const pages = new TranscriptPages(printed);
  await pages.grow();
  return pages;
}

async function downwards(pages: TranscriptPages): Promise<Page[]> {
  const found: Page[] = [];
  for (let index: number | null = 0; index !== null; ) {
    const page = await pages.page(index);
    found.push(page);
    index = pages.after(page.index);
  }
  return found;
}

async function upwards(pages: TranscriptPages): Promise<Page[]> {
  const found: Page[] = [];
  for (let index: number | null = pages.last; index !== null; ) {
    const page = await pages.page(index);
    found.unshift(page);
    index = pages.before(page.index);
  }
  return found;
}

function follow(found: readonly Page[], size: number): void {
  expect(found[0]?.start).toBe(0);
  expect(found.at(-1)?.end).toBe(size);
  for (const [at, page] of found.slice(1).entries()) expect(page.start).toBe(found[at]?.end);
}

const texts: [string, string][] = [
  ["short", "one\ntwo\n"],
  ["of many lines", numberedLines(60_000)],
  ["with lines longer than a page", numberedLines(9, (n) => String(n).repeat(40_000 * n))],
  ["of one line without an end", "x".repeat(5 * PAGE_BYTES + 17)],
  ["exactly as long as pages", "y\n".repeat(PAGE_BYTES)],
];

describe.each(texts)("the pages of a transcript %s", (_, text) => {
  it("are adjacent, and the same from both ends and from the middle", async () => {
    const down = await downwards(await opened(new FakeTranscript(text)));
    follow(down, text.length);
    expect(down.map((page) => page.text).join("")).toBe(text);
    expect(await upwards(await opened(new FakeTranscript(text)))).toEqual(down);
    const middle = await opened(new FakeTranscript(text));
    const index = middle.indexAt(text.length / 2);
    expect(await middle.page(index)).toEqual(down[index]);
  });
});

describe("the pages of a transcript", () => {
  it("include output that is appended while reading", async () => {
    const printed = new FakeTranscript(numberedLines(10));
    printed.ended = false;
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    let began = () => {};
    const begun = new Promise<void>((resolve) => {
      began = resolve;
    });
    const pages = new TranscriptPages({
      readRange: (from, limit) => printed.readRange(from, limit),
      async readPart(from, limit) {
        const part = await printed.readPart(from, limit);
        if (from > 0) return part;
        began();
        await held;
        return part;
      },
    });
    await pages.grow();
    const asked = pages.page(0);
    await begun;
    printed.text += numberedLines(10);
    printed.ended = true;
    await pages.grow();
    letGo();
    expect((await asked).text).toBe(printed.text);
  });

  it("begin at a line start", async () => {
    const down = await downwards(await opened(new FakeTranscript(numberedLines(60_000))));
    expect(down.length).toBeGreaterThan(5);
    expect(down.every(({ text }) => text.startsWith("line "))).toBe(true);
  });

  it("are limited in number, and read again after eviction", async () => {
    const printed = new FakeTranscript("y\n".repeat((PAGE_BYTES / 2) * (MAX_PAGES + 20)));
    const pages = await opened(printed);
    await downwards(pages);
    expect(await pages.cached()).toHaveLength(MAX_PAGES);
    const before = printed.requests;
    await pages.page(0);
    await pages.page(0);
    expect(printed.requests).toBe(before + 1);
  });

  it("have one page for the omitted range, from either direction", async () => {
    const text = numberedLines(100_000);
    const hole: [number, number] = [150_001, 900_003];
    const down = await downwards(await opened(new FakeTranscript(text, hole)));
    follow(down, text.length);
    expect(down.filter(({ omittedBytes }) => omittedBytes > 0)).toMatchObject([
      { start: hole[0], end: hole[1], text: "" },
    ]);
    expect(await upwards(await opened(new FakeTranscript(text, hole)))).toEqual(down);
    const inside = await opened(new FakeTranscript(text, hole));
    expect(await inside.page(inside.indexAt(500_000))).toMatchObject({ omittedBytes: hole[1] - hole[0] });
    expect(inside.indexAt(600_000)).toBe(inside.indexAt(300_000));
  });

  it("grow while output is appended: an unfinished page is read again", async () => {
    const printed = new FakeTranscript(numberedLines(100));
    printed.ended = false;
    const pages = await opened(printed);
    expect((await pages.page(0)).complete).toBe(false);
    expect(await pages.grow()).toBe(false);
    printed.text += `${numberedLines(30_000)}a line without its e`;
    expect(await pages.grow()).toBe(true);
    const grown = await downwards(pages);
    expect(grown.map((page) => page.text).join("")).toBe(printed.text.replace(/a line.*$/, ""));
    printed.text += "nd";
    printed.ended = true;
    expect(await pages.grow()).toBe(true);
    expect(pages.ended).toBe(true);
    expect((await downwards(pages)).map((page) => page.text).join("")).toBe(printed.text);
  });

  it("are read on from where they ended while they grow", async () => {
    const printed = new FakeTranscript(numberedLines(1000));
    printed.ended = false;
    const pages = await opened(printed);
    const asked: number[] = [];
    const readPart = printed.readPart.bind(printed);
    printed.readPart = (from, limit) => {
      asked.push(from);
      return readPart(from, limit);
    };
    await pages.page(0);
    const before = printed.text.length;
    printed.text += numberedLines(1000);
    await pages.grow();
    expect(await pages.page(0)).toMatchObject({ start: 0, end: printed.text.length, text: printed.text });
    expect(asked).toEqual([0, Number.MAX_SAFE_INTEGER, before]);
  });

  it("are requested once for concurrent readers, and again after a failure", async () => {
    const printed = new FakeTranscript(numberedLines(10));
    const pages = await opened(printed);
    const before = printed.requests;
    await Promise.all([pages.page(0), pages.page(0)]);
    expect(printed.requests).toBe(before + 1);
    const part = printed.readPart.bind(printed);
    const again = await opened(printed);
    printed.readPart = () => Promise.reject(new Error("gone"));
    await expect(again.page(0)).rejects.toThrow("gone");
    printed.readPart = part;
    expect((await again.page(0)).text).toBe(printed.text);
  });
});
