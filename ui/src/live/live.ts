/* Keeps the board true: one reading, then the stream from its mark on, and after each handful of events a question for
   just the tasks they were about.

   Laws: questions are asked one after another, and what is heard while one is under way counts more than its answer: the
   board never goes back. A window that nobody sees holds no stream, since a browser has six connections to a server for
   all its windows together; it reads now and then. */

import { api, Refused, told } from "../api/client";
import type { PlaitEvent } from "../api/types";
import { type Board, hear, read, standing, touched } from "../model/board";
import { type Link, useBoard } from "../store/board";
import { Dirt } from "./dirt";
import { queries, touchQueries } from "./queries";
import { Stream } from "./stream";

const GATHER = 100; // ms: events of this long are drawn together
const ASK = 300; // ms between two questions
const AGAIN = 2000; // ms until a question that failed is asked again
const TOUCH = 1000; // ms between two questions of the views
const READ = 15_000; // ms: sources are files, and nobody tells when they change
const MOST_ASKED = 100; // tasks in one question; more than that, and all are asked for

type Hears = (event: PlaitEvent) => void;

export class Live {
  private stream: Stream | null = null;
  private beginning: Promise<void> | null = null;
  private turn: Promise<unknown> = Promise.resolve();
  private events: PlaitEvent[] = [];
  private meanwhile: PlaitEvent[] = [];
  private readonly dirt = new Dirt();
  private readonly viewed = new Dirt();
  private gathering = 0;
  private asking = 0;
  private touching = 0;
  private again = 0;
  private readonly reading: number;
  private readonly over = new AbortController();
  private readonly hearers = new Set<Hears>();

  constructor(private readonly project: string | null) {
    const { signal } = this.over;
    document.addEventListener("visibilitychange", () => this.seen(), { signal });
    window.addEventListener("focus", () => void this.refresh(), { signal });
    this.reading = window.setInterval(() => this.readNowAndThen(), READ);
    void this.begin();
  }

  end(): void {
    this.over.abort();
    this.stream?.stop();
    for (const timer of [this.gathering, this.asking, this.touching, this.again]) window.clearTimeout(timer);
    window.clearInterval(this.reading);
  }

  /** Every event as it comes, for those who want more than the board; gives the way to stop. */
  onEvent(hears: Hears): () => void {
    this.hearers.add(hears);
    return () => this.hearers.delete(hears);
  }

  /** Read everything anew: sources were changed, or the window is looked at again. */
  async refresh(): Promise<void> {
    if (this.ended) return;
    if (this.stream === null && isSeen()) return this.begin();
    try {
      await this.readAll();
      if (this.stream === null) this.link("live");
    } catch (error) {
      this.failed(error);
    }
  }

  private get ended(): boolean {
    return this.over.signal.aborted;
  }

  private link(link: Link): void {
    if (!this.ended) useBoard.setState({ link });
  }

  private begin(): Promise<void> {
    this.beginning ??= this.readAll()
      .then((mark) => this.listen(mark))
      .catch((error) => this.failed(error))
      .finally(() => {
        this.beginning = null;
      });
    return this.beginning;
  }

  private listen(since: string): void {
    if (this.ended) return;
    if (!isSeen()) {
      this.link("live");
      return;
    }
    this.stream?.stop();
    this.stream = new Stream(this.project, since, {
      event: (event) => this.hear(event),
      reset: () => this.reset(),
      up: () => this.link("live"),
      down: () => this.link("reconnecting"),
      refused: () => {
        this.stream = null;
        void this.refresh(); // which says in words what is refused
      },
    });
  }

  /** The journal is another one: nothing that is known is true of it. */
  private reset(): void {
    useBoard.setState(({ board }) => ({ board: { ...board, activity: new Map() } }));
    void this.refresh();
    void queries.invalidateQueries();
  }

  /** One question at a time; what is heard meanwhile is heard again on top of the answer. */
  private question<T>(ask: () => Promise<T>, make: (board: Board, told: T) => Board): Promise<T> {
    const asked = this.turn.then(async () => {
      this.meanwhile = [];
      const told = await ask();
      if (!this.ended) useBoard.setState(({ board }) => ({ board: hear(make(board, told), this.meanwhile) }));
      return told;
    });
    this.turn = asked.catch(() => undefined);
    return asked;
  }

  private async readAll(): Promise<string> {
    const { signal } = this.over;
    const { mark } = await this.question(
      async () => {
        const asked = api.GET("/api/tasks", { signal });
        const query = { tasks: false, limit: 50 };
        const [tasks, heads] = await Promise.all([
          told(asked),
          told(api.GET("/api/batches", { signal, params: { query } })),
        ]);
        return { tasks, heads, mark: (await asked).response.headers.get("Plait-Mark") ?? "" };
      },
      (board, { tasks, heads }) => read(board, tasks.tasks, tasks.problems, heads.batches),
    );
    if (!this.ended) useBoard.setState({ loaded: true, failure: null });
    return mark;
  }

  private failed(error: unknown): void {
    if (this.ended) return;
    const { loaded } = useBoard.getState();
    const status = error instanceof Refused ? error.status : 0;
    const lost = status === 401 || status === 403;
    if (lost) {
      this.stream?.stop();
      this.stream = null;
    }
    if (this.stream === null) this.link(lost ? "lost" : loaded ? "reconnecting" : "connecting");
    if (!loaded || status === 404) useBoard.setState({ failure: error });
    if (!lost && this.again === 0) this.again = window.setTimeout(() => this.tryAgain(), AGAIN);
  }

  private tryAgain(): void {
    this.again = 0;
    void this.refresh();
  }

  private hear(event: PlaitEvent): void {
    this.events.push(event);
    for (const hears of this.hearers) this.tell(hears, event);
    if (this.gathering === 0) this.gathering = window.setTimeout(() => this.flush(), GATHER);
  }

  /** A view that can't bear an event costs that view: the stream goes on. */
  private tell(hears: Hears, event: PlaitEvent): void {
    try {
      hears(event);
    } catch (error) {
      reportError(error);
    }
  }

  private flush(): void {
    this.gathering = 0;
    const events = this.events;
    this.events = [];
    this.meanwhile.push(...events);
    useBoard.setState(({ board }) => ({ board: hear(board, events) }));
    this.dirt.add(touched(events));
    this.askSoon(ASK);
  }

  private askSoon(wait: number): void {
    if (this.asking !== 0 || this.dirt.clean || this.ended) return;
    this.asking = window.setTimeout(() => void this.ask(), wait);
  }

  private async ask(): Promise<void> {
    const dirt = this.dirt.take();
    this.viewed.add(dirt.touched);
    if (this.touching === 0) this.touching = window.setTimeout(() => this.touch(), TOUCH);
    let wait = ASK;
    try {
      if (dirt.everything) await this.readAll();
      else for (const [id, tasks] of dirt.batches) await this.askFor(id, tasks);
    } catch (error) {
      // What is refused would be refused again; the server that does not answer is asked again.
      if (!(error instanceof Refused) || error.status >= 500) this.dirt.add(dirt.touched);
      wait = AGAIN;
    }
    this.asking = 0;
    this.askSoon(wait);
  }

  private touch(): void {
    this.touching = 0;
    touchQueries(this.viewed.take());
  }

  private async askFor(batchId: string, tasks: ReadonlySet<string>): Promise<void> {
    const task = tasks.size <= MOST_ASKED ? [...tasks] : [];
    const params = { path: { batch_id: batchId }, query: { task } };
    const { signal } = this.over;
    await this.question(
      () => told(api.GET("/api/batches/{batch_id}/standing", { signal, params })),
      (board, { batch, tasks: runs }) => standing(board, batch, runs),
    );
  }

  private seen(): void {
    if (isSeen()) {
      void this.refresh();
    } else {
      this.stream?.stop();
      this.stream = null;
    }
  }

  /** Without a login that would be knocking at the door for ever: then only somebody who comes back asks. */
  private readNowAndThen(): void {
    if (useBoard.getState().link !== "lost") void this.refresh();
  }
}

function isSeen(): boolean {
  return document.visibilityState !== "hidden";
}
