import { describe, expect, it } from "vitest";
import { FakeTranscript, numberedLines } from "./fakeTranscript";
import { PAGE_BYTES, TranscriptPages } from "./transcriptPages";
import { ROW_HEIGHT, TranscriptWindow } from "./transcriptWindow";

const HEIGHT = 40 * ROW_HEIGHT;

async function opened(printed: FakeTranscript): Promise<TranscriptWindow> {
  const window = new TranscriptWindow(new TranscriptPages(printed));
  await window.grow();
  window.onScroll(window.top(), HEIGHT);
  await settled(window);
  return window;
}

async function settled(window: TranscriptWindow): Promise<void> {
  for (let before = null as unknown; before !== window.view; ) {
    before = window.view;
    await new Promise((done) => setTimeout(done));
  }
}

/** The top visible line. */
function atTop(window: TranscriptWindow): string {
  const row = Math.floor(window.top() / ROW_HEIGHT);
  const laid = window.view.pageRows.findLast(({ first }) => first <= row);
  const at = row - (laid?.first ?? 0);
  return laid?.page.text.slice(laid.rows.starts[at], laid.rows.ends[at]) ?? "";
}

async function scroll(window: TranscriptWindow, rows: number): Promise<void> {
  window.onScroll(Math.max(0, window.top() + rows * ROW_HEIGHT), HEIGHT);
  await settled(window);
}

describe("the transcript window", () => {
  it("starts at the end and follows it", async () => {
    const printed = new FakeTranscript(numberedLines(20_000));
    printed.ended = false;
    const window = await opened(printed);
    expect(atTop(window)).toBe("line 19960");
    printed.text += numberedLines(500, (n) => `more ${n}`);
    await window.grow();
    expect(atTop(window)).toBe("more 460");
    printed.text += numberedLines(400_000, (n) => `fast ${n}`);
    await window.grow();
    await settled(window);
    expect(atTop(window)).toBe("fast 399960");
  });

  it("loads what could not be loaded when it is asked again", async () => {
    const printed = new FakeTranscript(numberedLines(200_000));
    const window = await opened(printed);
    const read = printed.readPart;
    printed.readPart = () => Promise.reject(new Error("no network"));
    const before = window.view.total;
    await scroll(window, -before);
    expect(window.view.failure).not.toBeNull();
    printed.readPart = read;
    await window.grow();
    await settled(window);
    expect(window.view.failure).toBeNull();
    expect(window.view.total).toBeGreaterThan(before);
  });

  it("stays where the user scrolled to, whatever is appended", async () => {
    const printed = new FakeTranscript(numberedLines(20_000));
    printed.ended = false;
    const window = await opened(printed);
    await scroll(window, -100);
    expect(window.view.following).toBe(false);
    const there = atTop(window);
    expect(there).toBe("line 19860");
    printed.text += numberedLines(90_000);
    await window.grow();
    window.setColumns(60);
    expect(atTop(window)).toBe(there);
    await window.jumpToEnd();
    expect(atTop(window)).toBe("line 89960");
  });

  it("can be read from end to end with few pages in memory", async () => {
    const window = await opened(new FakeTranscript(numberedLines(300_000)));
    await window.jumpTo(0);
    expect(atTop(window)).toBe("line 0");
    for (let n = 0; n < 300; n += 1) await scroll(window, 350);
    expect(atTop(window)).toBe(`line ${300 * 350}`);
    for (let n = 0; n < 100; n += 1) await scroll(window, -350);
    expect(atTop(window)).toBe(`line ${200 * 350}`);
    const held = window.view.pageRows.reduce((sum, { page }) => sum + page.text.length, 0);
    expect(held).toBeLessThan(4 * PAGE_BYTES);
    await window.jumpTo(window.view.size / 2);
    expect(atTop(window)).toMatch(/^line 1[45]\d{4}$/);
  });

  it("shows an omitted range as a row", async () => {
    const window = await opened(new FakeTranscript(numberedLines(300_000), [100_000, 3_000_000]));
    await window.jumpTo(1_000_000);
    await settled(window);
    expect(window.view.pageRows.map(({ page }) => page.omittedBytes > 0)).toContain(true);
    expect(window.view.pageRows.length).toBeGreaterThan(2);
  });

  it("says once how much of a long line is left out", async () => {
    const printed = new FakeTranscript(`${numberedLines(3)}${"x".repeat(3_000_000)}`);
    printed.messages = true;
    const { pageRows } = (await opened(printed)).view;
    const [, begin, note, ...within] = pageRows;
    const end = within.pop();
    expect(note).toMatchObject({ count: 1, skippedBytes: printed.text.length - (begin?.page.end ?? 0) });
    expect(within.map(({ count }) => count)).toEqual(within.map(() => 0));
    expect(end).toMatchObject({ count: 1, page: { text: "… end\n" } });
  });

  it("reports a failed request, and retries on demand", async () => {
    const printed = new FakeTranscript(numberedLines(10));
    const part = printed.readPart.bind(printed);
    printed.readPart = () => Promise.reject(new Error("gone"));
    const window = new TranscriptWindow(new TranscriptPages(printed));
    await window.grow();
    expect(window.view).toMatchObject({ ready: false, failure: new Error("gone") });
    printed.readPart = part;
    await window.grow();
    expect(window.view).toMatchObject({ ready: true, failure: null });
  });

  it("unfolds the line of a match", async () => {
    const text = `${"x".repeat(9000)}roof${"x".repeat(9000)}\n${numberedLines(100)}`;
    const window = await opened(new FakeTranscript(text));
    await window.showMatch({ page: 0, char: 9000 });
    const [laid] = window.view.pageRows;
    expect(laid?.rows.kinds).not.toContain(2);
    expect(window.top()).toBe((Math.floor(9000 / 80) - 13) * ROW_HEIGHT);
  });
});
