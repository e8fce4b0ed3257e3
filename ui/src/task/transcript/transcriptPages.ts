/* A transcript of any length, of which only a few pages are cached.

   Page `i` lies between the last line ends before the bytes i × PAGE_BYTES and (i + 1) × PAGE_BYTES, so that pages are the
   same from either direction and start with a line, unless that line is longer than a page. The omitted middle of a
   transcript is one page without text. Law: pages are adjacent, without gaps or overlaps. */

export const PAGE_BYTES = 64 << 10;
export const MAX_PAGES = 64; // pages
const MARGIN_BYTES = 4 << 10; // bytes that must follow before the end of a page is final
const MAX_OFFSET = 2 ** 53 - 1;

export interface ByteRange {
  readonly offset: number;
  readonly next: number;
  readonly ended: boolean;
}

export interface TranscriptPart extends ByteRange {
  readonly text: string;
  /** Bytes of a long line that are not in the text. */
  readonly skippedBytes: number;
}

/** Requests a part from the server, or only its start and end. */
export interface TranscriptReader {
  readPart(from: number, limit: number): Promise<TranscriptPart>;
  readRange(from: number, limit: number): Promise<ByteRange>;
}

export interface Page {
  readonly index: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Bytes that were not kept. */
  readonly omittedBytes: number;
  /** Bytes of a long line that are not in the text. */
  readonly skippedBytes: number;
  /** False: more may follow within it. */
  readonly complete: boolean;
}

interface OmittedRange {
  /** The page of the omitted range; `last` is the last page that begins in it. */
  readonly index: number;
  readonly last: number;
  readonly start: number;
  readonly end: number;
}

export class TranscriptPages {
  size = 0;
  /** The transcript is complete. */
  ended = false;
  private readonly cache = new Map<number, Promise<Page>>();
  private readonly pageStarts = new Map<number, number>([[0, 0]]);
  private omitted: OmittedRange | null = null;
  private growthCount = 0;
  /** The page that is still growing, as last read. */
  private growing: Page | null = null;

  constructor(private readonly reader: TranscriptReader) {}

  /** The index of the last page. */
  get last(): number {
    return this.canonicalIndex(Math.max(0, Math.floor((this.size - 1) / PAGE_BYTES)));
  }

  /** The index of the page that contains this byte, or of the one after it. */
  indexAt(offset: number): number {
    return this.canonicalIndex(Math.min(Math.max(0, Math.floor(offset / PAGE_BYTES)), this.last));
  }

  after(index: number): number | null {
    const next = this.omitted?.index === index ? this.omitted.last + 1 : index + 1;
    return next * PAGE_BYTES < this.size ? this.canonicalIndex(next) : null;
  }

  before(index: number): number | null {
    return index === 0 ? null : this.canonicalIndex(index - 1);
  }

  /** Updates the length. True if it grew or is complete. */
  async grow(): Promise<boolean> {
    const { offset, ended } = await this.reader.readPart(MAX_OFFSET, PAGE_BYTES);
    if (offset === this.size && ended === this.ended) return false;
    for (const index of [...this.cache.keys()]) if (!this.isComplete(index + 1)) this.cache.delete(index);
    for (const index of [...this.pageStarts.keys()])
      if (index > 0 && !this.isComplete(index)) this.pageStarts.delete(index);
    this.omitted = null; // it moves while output is appended
    this.growthCount += 1;
    this.size = offset;
    this.ended = ended;
    return true;
  }

  /** The start of a page is final. A page whose end is not final is read again after the transcript grew. */
  private isComplete(index: number): boolean {
    return this.ended || index * PAGE_BYTES + MARGIN_BYTES <= this.size;
  }

  page(index: number): Promise<Page> {
    const name = this.canonicalIndex(index);
    const known = this.cache.get(name);
    if (known !== undefined) {
      this.cache.delete(name);
      this.cache.set(name, known);
      return known;
    }
    const request = this.read(name);
    this.cache.set(name, request);
    request.catch(() => this.cache.get(name) === request && this.cache.delete(name));
    for (const oldest of this.cache.keys()) {
      if (this.cache.size <= MAX_PAGES) break;
      this.cache.delete(oldest);
    }
    return request;
  }

  /** The cached pages, in order. */
  async cached(): Promise<Page[]> {
    const found = await Promise.all([...this.cache.values()].map((page) => page.catch(() => null)));
    return found.filter((page) => page !== null).sort((one, other) => one.index - other.index);
  }

  /** Reads several pages from this one on, for a search. */
  async readFrom(index: number, limit: number): Promise<TranscriptPart> {
    return this.reader.readPart(await this.pageStart(index), limit);
  }

  private canonicalIndex(index: number): number {
    const { omitted } = this;
    return omitted !== null && index > omitted.index && index <= omitted.last ? omitted.index : index;
  }

  private async read(index: number): Promise<Page> {
    if (this.omitted?.index === index) return omittedPage(this.omitted);
    const { growthCount } = this;
    const complete = this.isComplete(index + 1);
    const start = await this.pageStart(index);
    const limit = (index + 1) * PAGE_BYTES;
    if (this.growing?.index === index && this.size <= limit && !this.ended) {
      const page = await this.readMore(this.growing, limit);
      if (page !== null && growthCount === this.growthCount) return page;
    }
    const part = await this.reader.readPart(start, limit - start);
    if (!complete && growthCount !== this.growthCount) return this.page(index); // no one would request what arrived meanwhile
    if (part.offset > start) return omittedPage(await this.findOmitted(index, part.offset));
    if (complete) this.pageStarts.set(index + 1, part.next);
    const { next: end, text, skippedBytes } = part;
    const page = { index, start, end, text, omittedBytes: 0, skippedBytes, complete };
    this.growing = complete ? null : page;
    return page;
  }

  /** Adds what follows on the page, which ends before this byte. `null` if the page must be read again as a whole. */
  private async readMore(page: Page, limit: number): Promise<Page | null> {
    const part = await this.reader.readPart(page.end, PAGE_BYTES);
    const fits = part.offset === page.end && part.next <= limit && part.skippedBytes === 0;
    this.growing = fits ? { ...page, end: part.next, text: page.text + part.text } : null;
    return this.growing;
  }

  private async pageStart(index: number): Promise<number> {
    const known = this.pageStarts.get(index);
    if (known !== undefined) return known;
    const complete = this.isComplete(index);
    const [from, to] = [(index - 1) * PAGE_BYTES, index * PAGE_BYTES];
    const { offset, next } = await this.reader.readRange(from, PAGE_BYTES);
    const found = offset <= from ? next : Math.min(offset, to);
    if (complete) this.pageStarts.set(index, found);
    return found;
  }

  /** The omitted range that ends there and begins in a page up to this one. */
  private async findOmitted(index: number, end: number): Promise<OmittedRange> {
    let [low, high] = [0, index]; // the first page whose first byte is in the omitted range is among these
    while (low < high) {
      const middle = (low + high) >> 1;
      const { offset } = await this.reader.readRange(middle * PAGE_BYTES, PAGE_BYTES);
      if (offset > middle * PAGE_BYTES) high = middle;
      else low = middle + 1;
    }
    const start = low === 0 ? 0 : (await this.reader.readRange((low - 1) * PAGE_BYTES, PAGE_BYTES)).next;
    const last = Math.max(low, Math.ceil(end / PAGE_BYTES) - 1);
    this.pageStarts.set(last + 1, end);
    this.omitted = { index: low, last, start, end };
    return this.omitted;
  }
}

function omittedPage({ index, start, end }: OmittedRange): Page {
  return { index, start, end, text: "", omittedBytes: end - start, skippedBytes: 0, complete: true };
}
