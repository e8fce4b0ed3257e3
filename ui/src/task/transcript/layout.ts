/* Pages as rows, one under the other. */

import type { Page } from "./pages";
import { lineStart, splitRows, type TextRows } from "./rows";

export interface PageRows {
  readonly page: Page;
  readonly rows: TextRows;
  /** How many rows stand before it. */
  readonly first: number;
  /** At least one: what was left out, or is empty, has its own. */
  readonly count: number;
}

export class RowLayout {
  columns = 80;
  private readonly unfolded = new Set<string>();
  /** How rows were made: with which columns, and which lines unfolded. */
  private readonly rowKeys = new WeakMap<TextRows, string>();

  /** All of the line that this character is in is to be seen. */
  unfold(page: Page, char: number): void {
    this.unfolded.add(`${page.index} ${lineStart(page.text, char)}`);
  }

  /** `before`: what of it is laid already. */
  arrange(
    pages: readonly Page[],
    before: readonly PageRows[],
  ): { pageRows: readonly PageRows[]; total: number } {
    const known = new Map(before.map(({ page, rows }) => [page, rows]));
    let first = 0;
    const pageRows = pages.map((page) => {
      const rows = this.splitPage(page, known.get(page));
      const each = { page, rows, first, count: Math.max(1, rows.starts.length) };
      first += each.count;
      return each;
    });
    return { pageRows, total: first };
  }

  private splitPage(page: Page, known: TextRows | undefined): TextRows {
    const name = `${this.columns} ${[...this.unfolded].filter((each) => each.startsWith(`${page.index} `))}`;
    if (known !== undefined && this.rowKeys.get(known) === name) return known;
    const rows = splitRows(page.text, this.columns, (start) => this.unfolded.has(`${page.index} ${start}`));
    this.rowKeys.set(rows, name);
    return rows;
  }
}
