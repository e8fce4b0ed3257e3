/* The rendered part of a transcript: a few pages around the current position.

   Laws: the row at the top stays in place whatever is loaded around it, unless the window follows the end; and memory does
   not grow with the transcript. */

import type { Position } from "./search";
import { lineStart, type PageRows, RowLayout, rowAt } from "./textRows";
import type { Page, TranscriptPages } from "./transcriptPages";

export const ROW_HEIGHT = 18; // px
const PREFETCH_ROWS = 400; // rows that are loaded before they are visible
const MAX_LAG_PAGES = 8; // pages: a reader who follows and is this far behind jumps

export interface WindowView {
  readonly pageRows: readonly PageRows[];
  readonly total: number;
  readonly size: number;
  readonly ended: boolean;
  readonly following: boolean;
  /** The error of the last request. */
  readonly failure: unknown;
  /** The first request is complete. */
  readonly ready: boolean;
}

export class TranscriptWindow {
  view: WindowView = {
    pageRows: [],
    total: 0,
    size: 0,
    ended: false,
    following: true,
    failure: null,
    ready: false,
  };
  private anchor: Position & { px: number } = { page: 0, char: 0, px: 0 };
  private height = 600;
  private readonly layout = new RowLayout();
  private readonly listeners = new Set<() => void>();
  private generation = 0;
  private filling = false;
  private growing = false;

  constructor(readonly pages: TranscriptPages) {}

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** The scroll position, in pixels. */
  top(): number {
    const { pageRows, total, following } = this.view;
    const lowest = Math.max(0, total * ROW_HEIGHT - this.height);
    if (following) return lowest;
    const found = pageRows.find(({ page }) => page.index === this.anchor.page);
    if (found === undefined) return 0;
    const top = (found.first + rowAt(found.rows, this.anchor.char)) * ROW_HEIGHT + this.anchor.px;
    return Math.min(lowest, Math.max(0, top));
  }

  /** The user scrolled, or the size changed; updates `following`. */
  onScroll(top: number, height: number, following: boolean | null = null): void {
    this.height = height;
    const { pageRows, total } = this.view;
    const [row, px] = [Math.floor(top / ROW_HEIGHT), top % ROW_HEIGHT];
    const found = pageRows.findLast(({ first }) => first <= row) ?? pageRows[0];
    if (found === undefined) return;
    const char = found.rows.starts[row - found.first] ?? 0;
    this.anchor = { page: found.page.index, char, px };
    const bottom = top + height >= total * ROW_HEIGHT - 2;
    this.update({ following: following ?? (bottom && this.hasLastPage()) });
    void this.fill();
  }

  /** The row at the top. */
  position(): Position {
    return this.anchor;
  }

  setColumns(columns: number): void {
    if (columns === this.layout.columns) return;
    this.layout.columns = columns;
    this.layOut(this.view.pageRows.map(({ page }) => page));
  }

  unfold(page: number, char: number): void {
    const shown = this.view.pageRows.find((each) => each.page.index === page);
    if (shown === undefined) return;
    this.layout.unfold(shown.page, char);
    this.layOut(this.view.pageRows.map((each) => each.page));
  }

  /** Checks for more output, and follows the end if the window does. */
  async grow(): Promise<void> {
    if (this.growing) return;
    this.growing = true;
    try {
      const grown = await this.pages.grow();
      const { size, ended } = this.pages;
      const { ready, failure } = this.view;
      this.update({ size, ended, failure: null });
      if (!ready) await this.jumpToEnd();
      else if (grown || failure !== null) await this.onGrown();
    } catch (failure) {
      this.update({ failure });
    } finally {
      this.growing = false;
    }
  }

  async jumpToEnd(): Promise<void> {
    await this.jump(this.pages.last, () => this.update({ following: true }));
  }

  async jumpTo(offset: number): Promise<void> {
    const index = this.pages.indexAt(offset);
    await this.jump(index, (page) => {
      const share = (offset - page.start) / Math.max(1, page.end - page.start);
      const char = Math.floor(Math.min(1, Math.max(0, share)) * page.text.length);
      this.anchor = { page: page.index, char: offset === 0 ? 0 : lineStart(page.text, char), px: 0 };
      this.update({ following: false });
    });
  }

  /** Scrolls to a match, a third below the top. */
  async showMatch({ page, char }: Position): Promise<void> {
    const there = this.view.pageRows.some((each) => each.page.index === page);
    const found = await this.pages.page(page);
    this.layout.unfold(found, char);
    const moveAnchor = () => {
      this.anchor = { page, char, px: -Math.floor(this.height / 3 / ROW_HEIGHT) * ROW_HEIGHT };
      this.update({ following: false });
    };
    if (!there) return this.jump(page, moveAnchor);
    moveAnchor();
    this.layOut(this.view.pageRows.map((each) => each.page));
  }

  /** The byte offset of a row, as far as it is known. */
  byteAt(row: number): number {
    const { pageRows } = this.view;
    const found = pageRows.findLast(({ first }) => first <= row) ?? pageRows[0];
    if (found === undefined) return 0;
    const { page, rows, first } = found;
    if (row - first >= found.count) return page.end;
    const char = rows.starts[row - first] ?? 0;
    return page.start + (char / Math.max(1, page.text.length)) * (page.end - page.start);
  }

  private async jump(index: number, then: (page: Page) => void): Promise<void> {
    this.generation += 1;
    const generation = this.generation;
    try {
      const page = await this.pages.page(index);
      if (generation !== this.generation) return;
      this.layOut([page], { ready: true, failure: null });
      then(page);
    } catch (failure) {
      if (generation === this.generation) this.update({ failure });
    }
    await this.fill();
  }

  private async onGrown(): Promise<void> {
    const last = this.view.pageRows.at(-1)?.page;
    if (this.view.following && last !== undefined && this.pages.last - last.index > MAX_LAG_PAGES)
      return this.jumpToEnd();
    if (last !== undefined && !last.complete) {
      const generation = this.generation;
      const fresh = await this.pages.page(last.index);
      if (generation !== this.generation) return;
      this.layOut(this.view.pageRows.map(({ page }) => (page.index === fresh.index ? fresh : page)));
    }
    await this.fill();
  }

  /** Loads missing pages around the viewport, one at a time. */
  private async fill(): Promise<void> {
    if (this.filling) return;
    this.filling = true;
    try {
      for (let missing = this.nextMissing(); missing !== null; missing = this.nextMissing()) {
        const generation = this.generation;
        const page = await this.pages.page(missing.index);
        if (generation !== this.generation) continue;
        const now = this.view.pageRows.map((each) => each.page);
        this.layOut(missing.above ? [page, ...now] : [...now, page]);
      }
      this.trimPages();
    } catch (failure) {
      this.update({ failure });
    } finally {
      this.filling = false;
    }
  }

  private nextMissing(): { index: number; above: boolean } | null {
    const { pageRows, total } = this.view;
    const [first, last] = [pageRows[0]?.page, pageRows.at(-1)?.page];
    if (first === undefined || last === undefined) return null;
    const top = this.top() / ROW_HEIGHT;
    const limit = PREFETCH_ROWS - pageRows.filter(({ count }) => count === 0).length;
    const below = total - top - this.height / ROW_HEIGHT < limit ? this.pages.after(last.index) : null;
    if (below !== null && last.complete) return { index: below, above: false };
    const above = top < limit ? this.pages.before(first.index) : null;
    return above === null ? null : { index: above, above: true };
  }

  private trimPages(): void {
    const { pageRows, total } = this.view;
    const top = this.top() / ROW_HEIGHT;
    const bottom = top + this.height / ROW_HEIGHT;
    const kept = pageRows.filter(
      ({ first, count }) =>
        first + count > top - 2 * PREFETCH_ROWS && first < Math.min(total, bottom + 2 * PREFETCH_ROWS),
    );
    if (kept.length > 0 && kept.length < pageRows.length) this.layOut(kept.map(({ page }) => page));
  }

  private layOut(pages: readonly Page[], change: Partial<WindowView> = {}): void {
    this.update({ ...change, ...this.layout.arrange(pages, this.view.pageRows) });
  }

  private hasLastPage(): boolean {
    const last = this.view.pageRows.at(-1)?.page;
    return last !== undefined && this.pages.after(last.index) === null;
  }

  private update(change: Partial<WindowView>): void {
    this.view = { ...this.view, ...change };
    for (const listener of this.listeners) listener();
  }
}
