/* A transcript as the server gives it, for tests: parts end with a line where one ends, and step over what was left out. */

import type { Part, Place, Reads } from "./pages";

const AFTER = 4 << 10;

export class Printed implements Reads {
  asked = 0;
  ended = true;

  constructor(
    public text: string,
    public hole: [number, number] = [0, 0],
  ) {}

  async part(from: number, limit: number): Promise<Part> {
    const { offset, next, ended } = await this.place(from, limit);
    return { offset, next, ended, text: this.text.slice(offset, next) };
  }

  async place(from: number, limit: number): Promise<Place> {
    this.asked += 1;
    const { text, ended } = this;
    if (from >= text.length) return { offset: text.length, next: text.length, ended };
    const [hole, data] = this.hole;
    const offset = from >= hole && from < data ? data : from;
    const stop = offset < hole ? hole : text.length;
    const had = text.slice(offset, Math.min(stop, offset + limit + AFTER));
    const closed =
      (stop < text.length && had.length < limit + AFTER) || (ended && offset + had.length >= stop);
    const next = offset + kept(had, limit, closed);
    return { offset, next, ended: ended && next >= text.length };
  }
}

function kept(had: string, limit: number, closed: boolean): number {
  if (closed && had.length <= limit) return had.length;
  const whole = had.lastIndexOf("\n", limit - 1) + 1;
  if (whole > 0 || (!closed && had.length < limit)) return whole;
  return Math.min(limit, closed ? had.length : had.length - AFTER);
}

export function lines(many: number, text = (n: number) => `line ${n}`): string {
  return Array.from({ length: many }, (_, n) => `${text(n)}\n`).join("");
}
