/* A transcript server for tests: parts end at line ends and skip the omitted range. */

import type { ByteRange, TranscriptPart, TranscriptReader } from "./transcriptPages";

const LOOKAHEAD = 4 << 10;

export class FakeTranscript implements TranscriptReader {
  requests = 0;
  ended = true;
  /** It is read as messages: of a long line, only the start and the end. */
  messages = false;

  constructor(
    public text: string,
    public omitted: [number, number] = [0, 0],
  ) {}

  async readPart(from: number, limit: number): Promise<TranscriptPart> {
    const { offset, next, ended } = await this.readRange(from, limit);
    const text = this.text.slice(offset, next);
    const isWithinLine =
      this.messages && text !== "" && !text.includes("\n") && this.text[offset - 1] !== "\n";
    if (!isWithinLine) return { offset, next, ended, text, skippedBytes: 0 };
    return { offset, next, ended, text: ended ? "… end\n" : "", skippedBytes: text.length };
  }

  async readRange(from: number, limit: number): Promise<ByteRange> {
    this.requests += 1;
    const { text, ended } = this;
    if (from >= text.length) return { offset: text.length, next: text.length, ended };
    const [omitted, data] = this.omitted;
    const offset = from >= omitted && from < data ? data : from;
    const stop = offset < omitted ? omitted : text.length;
    const window = text.slice(offset, Math.min(stop, offset + limit + LOOKAHEAD));
    const closed =
      (stop < text.length && window.length < limit + LOOKAHEAD) || (ended && offset + window.length >= stop);
    const next = offset + partLength(window, limit, closed);
    return { offset, next, ended: ended && next >= text.length };
  }
}

function partLength(window: string, limit: number, closed: boolean): number {
  if (closed && window.length <= limit) return window.length;
  const whole = window.lastIndexOf("\n", limit - 1) + 1;
  if (whole > 0 || (!closed && window.length < limit)) return whole;
  return Math.min(limit, closed ? window.length : window.length - LOOKAHEAD);
}

export function numberedLines(count: number, text = (n: number) => `line ${n}`): string {
  return Array.from({ length: count }, (_, n) => `${text(n)}\n`).join("");
}
