/* What of a transcript is drawn: a few pages around the place that a person looks at, in rows of one height.

   Laws: the row at the top stays where it is, whatever comes before or after it, unless one follows the end; and what is
   held does not grow with the transcript. */

import type { Spot } from "./find";
import { type Laid, Layout } from "./layout";
import type { Page, Pages } from "./pages";
import { lineAt, rowAt } from "./rows";

export const ROW = 18; // px
const AHEAD = 400; // rows that are there before they are seen
const FAR = 8; // pages: whoever follows and is that far behind jumps

export interface View {
  readonly laid: readonly Laid[];
  readonly total: number;
  readonly size: number;
  readonly ended: boolean;
  readonly follows: boolean;
  /** Of the last reading. */
  readonly failure: unknown;
  /** The first reading is over. */
  readonly ready: boolean;
}

export class Window {
  view: View = { laid: [], total: 0, size: 0, ended: false, follows: true, failure: null, ready: false };
  private anchor: Spot & { px: number } = { page: 0, char: 0, px: 0 };
  private height = 600;
  private readonly layout = new Layout();
  private readonly watchers = new Set<() => void>();
  private turn = 0;
  private pumping = false;
  private growing = false;

  constructor(readonly pages: Pages) {}

  readonly watch = (watcher: () => void): (() => void) => {
    this.watchers.add(watcher);
    return () => this.watchers.delete(watcher);
  };

  /** Where the top of what is seen belongs, in pixels. */
  top(): number {
    const { laid, total, follows } = this.view;
    const lowest = Math.max(0, total * ROW - this.height);
    if (follows) return lowest;
    const found = laid.find(({ page }) => page.index === this.anchor.page);
    if (found === undefined) return 0;
    const top = (found.first + rowAt(found.rows, this.anchor.char)) * ROW + this.anchor.px;
    return Math.min(lowest, Math.max(0, top));
  }

  /** A person has scrolled there, or the size of the frame is another: `follows` says then whether one still does. */
  seen(top: number, height: number, follows: boolean | null = null): void {
    this.height = height;
    const { laid, total } = this.view;
    const [row, px] = [Math.floor(top / ROW), top % ROW];
    const found = laid.findLast(({ first }) => first <= row) ?? laid[0];
    if (found === undefined) return;
    const char = found.rows.starts[row - found.first] ?? 0;
    this.anchor = { page: found.page.index, char, px };
    const bottom = top + height >= total * ROW - 2;
    this.put({ follows: follows ?? (bottom && this.atLast()) });
    void this.pump();
  }

  /** What stands at the top. */
  spot(): Spot {
    return this.anchor;
  }

  wide(columns: number): void {
    if (columns === this.layout.columns) return;
    this.layout.columns = columns;
    this.lay(this.view.laid.map(({ page }) => page));
  }

  unfold(page: number, char: number): void {
    const laid = this.view.laid.find((each) => each.page.index === page);
    if (laid === undefined) return;
    this.layout.unfold(laid.page, char);
    this.lay(this.view.laid.map((each) => each.page));
  }

  /** The size that it has now; whoever follows is taken along. */
  async grow(): Promise<void> {
    if (this.growing) return;
    this.growing = true;
    try {
      const more = await this.pages.grow();
      const { size, ended } = this.pages;
      const begun = this.view.ready;
      this.put({ size, ended, failure: null });
      if (!begun) await this.end();
      else if (more) await this.more();
    } catch (failure) {
      this.put({ failure });
    } finally {
      this.growing = false;
    }
  }

  async end(): Promise<void> {
    await this.jump(this.pages.last, () => this.put({ follows: true }));
  }

  async to(offset: number): Promise<void> {
    const index = this.pages.at(offset);
    await this.jump(index, (page) => {
      const share = (offset - page.start) / Math.max(1, page.end - page.start);
      const char = Math.floor(Math.min(1, Math.max(0, share)) * page.text.length);
      this.anchor = { page: page.index, char: offset === 0 ? 0 : lineAt(page.text, char), px: 0 };
      this.put({ follows: false });
    });
  }

  /** Bring a match into sight, a third below the top. */
  async show({ page, char }: Spot): Promise<void> {
    const there = this.view.laid.some((each) => each.page.index === page);
    const found = await this.pages.page(page);
    this.layout.unfold(found, char);
    const put = () => {
      this.anchor = { page, char, px: -Math.floor(this.height / 3 / ROW) * ROW };
      this.put({ follows: false });
    };
    if (!there) return this.jump(page, put);
    put();
    this.lay(this.view.laid.map((each) => each.page));
  }

  /** The byte that a row begins with, as far as that can be told. */
  byte(row: number): number {
    const { laid } = this.view;
    const found = laid.findLast(({ first }) => first <= row) ?? laid[0];
    if (found === undefined) return 0;
    const { page, rows, first } = found;
    if (row - first >= found.count) return page.end;
    const char = rows.starts[row - first] ?? 0;
    return page.start + (char / Math.max(1, page.text.length)) * (page.end - page.start);
  }

  private async jump(index: number, then: (page: Page) => void): Promise<void> {
    this.turn += 1;
    const turn = this.turn;
    try {
      const page = await this.pages.page(index);
      if (turn !== this.turn) return;
      this.lay([page], { ready: true, failure: null });
      then(page);
    } catch (failure) {
      if (turn === this.turn) this.put({ failure });
    }
    await this.pump();
  }

  private async more(): Promise<void> {
    const last = this.view.laid.at(-1)?.page;
    if (this.view.follows && last !== undefined && this.pages.last - last.index > FAR) return this.end();
    if (last !== undefined && !last.sure) {
      const turn = this.turn;
      const fresh = await this.pages.page(last.index);
      if (turn !== this.turn) return;
      this.lay(this.view.laid.map(({ page }) => (page.index === fresh.index ? fresh : page)));
    }
    await this.pump();
  }

  /** Read what is missing around what is seen, a page at a time. */
  private async pump(): Promise<void> {
    if (this.pumping) return;
    this.pumping = true;
    try {
      for (let missing = this.missing(); missing !== null; missing = this.missing()) {
        const turn = this.turn;
        const page = await this.pages.page(missing.index);
        if (turn !== this.turn) continue;
        const now = this.view.laid.map((each) => each.page);
        this.lay(missing.above ? [page, ...now] : [...now, page]);
      }
      this.trim();
    } catch (failure) {
      this.put({ failure });
    } finally {
      this.pumping = false;
    }
  }

  private missing(): { index: number; above: boolean } | null {
    const { laid, total } = this.view;
    const [first, last] = [laid[0]?.page, laid.at(-1)?.page];
    if (first === undefined || last === undefined) return null;
    const top = this.top() / ROW;
    const below = total - top - this.height / ROW < AHEAD ? this.pages.after(last.index) : null;
    if (below !== null && last.sure) return { index: below, above: false };
    const above = top < AHEAD ? this.pages.before(first.index) : null;
    return above === null ? null : { index: above, above: true };
  }

  private trim(): void {
    const { laid, total } = this.view;
    const top = this.top() / ROW;
    const bottom = top + this.height / ROW;
    const kept = laid.filter(
      ({ first, count }) => first + count > top - 2 * AHEAD && first < Math.min(total, bottom + 2 * AHEAD),
    );
    if (kept.length > 0 && kept.length < laid.length) this.lay(kept.map(({ page }) => page));
  }

  private lay(pages: readonly Page[], more: Partial<View> = {}): void {
    this.put({ ...more, ...this.layout.of(pages, this.view.laid) });
  }

  private atLast(): boolean {
    const last = this.view.laid.at(-1)?.page;
    return last !== undefined && this.pages.after(last.index) === null;
  }

  private put(change: Partial<View>): void {
    this.view = { ...this.view, ...change };
    for (const watcher of this.watchers) watcher();
  }
}
