/* A transcript of any length, of which only a few pages are held. Pure but for the one that reads.

   Page `i` is what stands between the last ends of lines before the bytes i × PAGE and (i + 1) × PAGE, so that pages are
   the same from wherever one comes, and begin with a line unless that one is longer than a page. What was left out of the
   middle of a transcript is one page without a text. Law: pages follow each other without a gap and without an overlap. */

export const PAGE = 64 << 10;
export const KEPT = 64; // pages
const MARGIN = 4 << 10; // bytes that must follow, so that the end of a page is sure
const FARTHEST = 2 ** 53 - 1;

export interface Place {
  readonly offset: number;
  readonly next: number;
  readonly ended: boolean;
}

export interface Part extends Place {
  readonly text: string;
}

/** How the server is asked: for a part, or only where it would start and end. */
export interface Reads {
  part(from: number, limit: number): Promise<Part>;
  place(from: number, limit: number): Promise<Place>;
}

export interface Page {
  readonly index: number;
  readonly start: number;
  readonly end: number;
  readonly text: string;
  /** Bytes that nobody has any more. */
  readonly leftOut: number;
  /** False: more may follow within it. */
  readonly sure: boolean;
}

interface Hole {
  /** Of the page that stands for it; `last` is the last one that begins in it. */
  readonly index: number;
  readonly last: number;
  readonly start: number;
  readonly end: number;
}

export class Pages {
  size = 0;
  /** Nothing comes any more. */
  ended = false;
  private readonly kept = new Map<number, Promise<Page>>();
  private readonly begins = new Map<number, number>([[0, 0]]);
  private hole: Hole | null = null;
  private growths = 0;

  constructor(private readonly reads: Reads) {}

  /** Of the page at the end. */
  get last(): number {
    return this.canonical(Math.max(0, Math.floor((this.size - 1) / PAGE)));
  }

  /** Of the page that this byte is in, or the one after it. */
  at(offset: number): number {
    return this.canonical(Math.min(Math.max(0, Math.floor(offset / PAGE)), this.last));
  }

  after(index: number): number | null {
    const next = this.hole?.index === index ? this.hole.last + 1 : index + 1;
    return next * PAGE < this.size ? this.canonical(next) : null;
  }

  before(index: number): number | null {
    return index === 0 ? null : this.canonical(index - 1);
  }

  /** How long it is now. True: there is more than before, or nothing comes any more. */
  async grow(): Promise<boolean> {
    const { offset, ended } = await this.reads.part(FARTHEST, PAGE);
    if (offset === this.size && ended === this.ended) return false;
    for (const index of [...this.kept.keys()]) if (!this.sure(index + 1)) this.kept.delete(index);
    for (const index of [...this.begins.keys()])
      if (index > 0 && !this.sure(index)) this.begins.delete(index);
    this.hole = null; // it moves while more is printed
    this.growths += 1;
    this.size = offset;
    this.ended = ended;
    return true;
  }

  /** Where a page begins is known for good. What is not sure is read again after it has grown. */
  private sure(index: number): boolean {
    return this.ended || index * PAGE + MARGIN <= this.size;
  }

  page(index: number): Promise<Page> {
    const name = this.canonical(index);
    const known = this.kept.get(name);
    if (known !== undefined) {
      this.kept.delete(name);
      this.kept.set(name, known);
      return known;
    }
    const asked = this.read(name);
    this.kept.set(name, asked);
    asked.catch(() => this.kept.get(name) === asked && this.kept.delete(name));
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= KEPT) break;
      this.kept.delete(oldest);
    }
    return asked;
  }

  /** Those that are held, as they come. */
  async held(): Promise<Page[]> {
    const found = await Promise.all([...this.kept.values()].map((page) => page.catch(() => null)));
    return found.filter((page) => page !== null).sort((one, other) => one.index - other.index);
  }

  /** A long part from the beginning of a page on, for who only wants to know what is in it. */
  async stretch(index: number, limit: number): Promise<Part> {
    return this.reads.part(await this.begin(index), limit);
  }

  private canonical(index: number): number {
    const { hole } = this;
    return hole !== null && index > hole.index && index <= hole.last ? hole.index : index;
  }

  private async read(index: number): Promise<Page> {
    if (this.hole?.index === index) return nothing(this.hole);
    const { growths } = this;
    const sure = this.sure(index + 1);
    const start = await this.begin(index);
    const limit = (index + 1) * PAGE - start;
    const part = await this.reads.part(start, limit);
    if (!sure && growths !== this.growths) return this.page(index); // nobody would ask for what has come meanwhile
    if (part.offset > start) return nothing(await this.around(index, part.offset));
    if (sure) this.begins.set(index + 1, part.next);
    return { index, start, end: part.next, text: part.text, leftOut: 0, sure };
  }

  private async begin(index: number): Promise<number> {
    const known = this.begins.get(index);
    if (known !== undefined) return known;
    const sure = this.sure(index);
    const [from, to] = [(index - 1) * PAGE, index * PAGE];
    const { offset, next } = await this.reads.place(from, PAGE);
    const found = offset <= from ? next : Math.min(offset, to);
    if (sure) this.begins.set(index, found);
    return found;
  }

  /** The hole that ends there, and that begins in some page up to this one. */
  private async around(index: number, end: number): Promise<Hole> {
    let [low, high] = [0, index]; // the first page whose first byte is in the hole is among these
    while (low < high) {
      const middle = (low + high) >> 1;
      const { offset } = await this.reads.place(middle * PAGE, PAGE);
      if (offset > middle * PAGE) high = middle;
      else low = middle + 1;
    }
    const start = low === 0 ? 0 : (await this.reads.place((low - 1) * PAGE, PAGE)).next;
    const last = Math.max(low, Math.ceil(end / PAGE) - 1);
    this.begins.set(last + 1, end);
    this.hole = { index: low, last, start, end };
    return this.hole;
  }
}

function nothing({ index, start, end }: Hole): Page {
  return { index, start, end, text: "", leftOut: end - start, sure: true };
}
