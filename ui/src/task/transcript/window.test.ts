import { describe, expect, it } from "vitest";
import { PAGE, Pages } from "./pages";
import { lines, Printed } from "./printed";
import { ROW, Window } from "./window";

const HEIGHT = 40 * ROW;

async function opened(printed: Printed): Promise<Window> {
  const window = new Window(new Pages(printed));
  await window.grow();
  window.seen(window.top(), HEIGHT);
  await settled(window);
  return window;
}

async function settled(window: Window): Promise<void> {
  for (let before = null as unknown; before !== window.view; ) {
    before = window.view;
    await new Promise((done) => setTimeout(done));
  }
}

/** The line that is seen at the top. */
function atTop(window: Window): string {
  const row = Math.floor(window.top() / ROW);
  const laid = window.view.laid.findLast(({ first }) => first <= row);
  const at = row - (laid?.first ?? 0);
  return laid?.page.text.slice(laid.rows.starts[at], laid.rows.ends[at]) ?? "";
}

async function scroll(window: Window, rows: number): Promise<void> {
  window.seen(Math.max(0, window.top() + rows * ROW), HEIGHT);
  await settled(window);
}

describe("what is seen of a transcript", () => {
  it("is its end at first, and goes along with it", async () => {
    const printed = new Printed(lines(20_000));
    printed.ended = false;
    const window = await opened(printed);
    expect(atTop(window)).toBe("line 19960");
    printed.text += lines(500, (n) => `more ${n}`);
    await window.grow();
    expect(atTop(window)).toBe("more 460");
    printed.text += lines(400_000, (n) => `fast ${n}`);
    await window.grow();
    await settled(window);
    expect(atTop(window)).toBe("fast 399960");
  });

  it("stays where a person has scrolled to, whatever comes", async () => {
    const printed = new Printed(lines(20_000));
    printed.ended = false;
    const window = await opened(printed);
    await scroll(window, -100);
    expect(window.view.follows).toBe(false);
    const there = atTop(window);
    expect(there).toBe("line 19860");
    printed.text += lines(90_000);
    await window.grow();
    window.wide(60);
    expect(atTop(window)).toBe(there);
    await window.end();
    expect(atTop(window)).toBe("line 89960");
  });

  it("can be read from one end to the other, and holds little of it", async () => {
    const window = await opened(new Printed(lines(300_000)));
    await window.to(0);
    expect(atTop(window)).toBe("line 0");
    for (let n = 0; n < 300; n += 1) await scroll(window, 350);
    expect(atTop(window)).toBe(`line ${300 * 350}`);
    for (let n = 0; n < 100; n += 1) await scroll(window, -350);
    expect(atTop(window)).toBe(`line ${200 * 350}`);
    const held = window.view.laid.reduce((sum, { page }) => sum + page.text.length, 0);
    expect(held).toBeLessThan(4 * PAGE);
    await window.to(window.view.size / 2);
    expect(atTop(window)).toMatch(/^line 1[45]\d{4}$/);
  });

  it("tells what was left out in a row of its own", async () => {
    const window = await opened(new Printed(lines(300_000), [100_000, 3_000_000]));
    await window.to(1_000_000);
    await settled(window);
    expect(window.view.laid.map(({ page }) => page.leftOut > 0)).toContain(true);
    expect(window.view.laid.length).toBeGreaterThan(2);
  });

  it("says what could not be read, and reads it when asked again", async () => {
    const printed = new Printed(lines(10));
    const part = printed.part.bind(printed);
    printed.part = () => Promise.reject(new Error("gone"));
    const window = new Window(new Pages(printed));
    await window.grow();
    expect(window.view).toMatchObject({ ready: false, failure: new Error("gone") });
    printed.part = part;
    await window.grow();
    expect(window.view).toMatchObject({ ready: true, failure: null });
  });

  it("shows a match in a line that was folded", async () => {
    const text = `${"x".repeat(9000)}roof${"x".repeat(9000)}\n${lines(100)}`;
    const window = await opened(new Printed(text));
    await window.show({ page: 0, char: 9000 });
    const [laid] = window.view.laid;
    expect(laid?.rows.kinds).not.toContain(2);
    expect(window.top()).toBe((Math.floor(9000 / 80) - 13) * ROW);
  });
});
