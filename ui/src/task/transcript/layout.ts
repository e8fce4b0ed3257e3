/* Pages as rows, one under the other. */

import type { Page } from "./pages";
import { lineAt, type Rows, rowsOf } from "./rows";

export interface Laid {
  readonly page: Page;
  readonly rows: Rows;
  /** How many rows stand before it. */
  readonly first: number;
  /** At least one: what was left out, or is empty, has its own. */
  readonly count: number;
}

export class Layout {
  columns = 80;
  private readonly unfolded = new Set<string>();
  /** How rows were made: with which columns, and which lines unfolded. */
  private readonly made = new WeakMap<Rows, string>();

  /** All of the line that this character is in is to be seen. */
  unfold(page: Page, char: number): void {
    this.unfolded.add(`${page.index} ${lineAt(page.text, char)}`);
  }

  /** `before`: what of it is laid already. */
  of(pages: readonly Page[], before: readonly Laid[]): { laid: readonly Laid[]; total: number } {
    const known = new Map(before.map(({ page, rows }) => [page, rows]));
    let first = 0;
    const laid = pages.map((page) => {
      const rows = this.rows(page, known.get(page));
      const each = { page, rows, first, count: Math.max(1, rows.starts.length) };
      first += each.count;
      return each;
    });
    return { laid, total: first };
  }

  private rows(page: Page, known: Rows | undefined): Rows {
    const name = `${this.columns} ${[...this.unfolded].filter((each) => each.startsWith(`${page.index} `))}`;
    if (known !== undefined && this.made.get(known) === name) return known;
    const rows = rowsOf(page.text, this.columns, (start) => this.unfolded.has(`${page.index} ${start}`));
    this.made.set(rows, name);
    return rows;
  }
}
