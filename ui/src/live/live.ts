/* Keeps the board true: one reading, then the stream from its mark on, and after each handful of events a question for
   just the tasks they were about.

   Law: a window that nobody sees holds no stream, since a browser has six connections to a server for
   all its windows together; it reads now and then. */

import { Refused } from "../api/client";
import type { PlaitEvent } from "../api/types";
import { type Touched, touched } from "../model/board";
import { type Link, useBoard } from "../store/board";
import { Dirt, type Taken } from "./dirt";
import { queries, touchQueries } from "./queries";
import { Questions } from "./questions";
import { Stream } from "./stream";

const GATHER = 100; // ms: events of this long are drawn together
const ASK = 300; // ms between two questions
const AGAIN = 2000; // ms until a question that failed is asked again
const TOUCH = 1000; // ms between two questions of the views
const READ = 15_000; // ms: sources are files, and nobody tells when they change

type Hears = (event: PlaitEvent) => void;

export class Live {
  private stream: Stream | null = null;
  private beginning: Promise<void> | null = null;
  private events: PlaitEvent[] = [];
  private readonly dirt = new Dirt();
  private readonly viewed = new Dirt();
  private refusedBefore = false;
  private gathering = 0;
  private asking = 0;
  private touching = 0;
  private again = 0;
  private readonly reading: number;
  private readonly over = new AbortController();
  private readonly questions = new Questions(this.over.signal);
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
      await this.questions.readAll();
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
    this.beginning ??= this.questions
      .readAll()
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
    // What views were told before this mark may be older than the first event that is heard.
    touchQueries({ batches: new Map(), everything: true });
    this.stream = new Stream(this.project, since, {
      event: (event) => this.hear(event),
      reset: () => this.reset(),
      up: () => {
        this.refusedBefore = false;
        this.link("live");
      },
      down: () => this.link("reconnecting"),
      refused: () => this.refused(),
    });
  }

  /** A reading says in words what is refused. Where it is answered, and only the stream is not, it is not asked for at once
      again: they would chase each other. */
  private refused(): void {
    this.stream = null;
    this.link("reconnecting");
    if (!this.refusedBefore) void this.refresh();
    this.refusedBefore = true;
  }

  /** The journal is another one: nothing that is known is true of it. */
  private reset(): void {
    this.questions.forget();
    useBoard.setState(({ board }) => ({ board: { ...board, activity: new Map() } }));
    void this.refresh();
    void queries.invalidateQueries();
  }

  private failed(error: unknown): void {
    if (this.ended) return;
    if (isRefusal(error)) {
      this.turnedAway(error);
      return;
    }
    const { loaded } = useBoard.getState();
    if (this.stream === null) this.link(loaded ? "reconnecting" : "connecting");
    if (!loaded) useBoard.setState({ failure: error });
    if (this.again === 0) this.again = window.setTimeout(() => this.tryAgain(), AGAIN);
  }

  /** What is refused would be refused again: it is asked for when the sources are read again, and not before. */
  private turnedAway(error: Refused): void {
    if (isLogin(error)) {
      this.stream?.stop();
      this.stream = null;
      this.link("lost");
    }
    // A project that is gone has no board; any other keeps what was read last.
    if (error.status === 404) useBoard.setState({ loaded: false });
    useBoard.setState({ failure: error });
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
    this.questions.hear(events);
    this.dirt.add(touched(events));
    this.askSoon(ASK);
  }

  private askSoon(wait: number): void {
    if (this.asking !== 0 || this.dirt.clean || this.ended) return;
    this.asking = window.setTimeout(() => void this.ask(), wait);
  }

  private async ask(): Promise<void> {
    const { everything, batches, touched } = this.dirt.take();
    this.viewed.add(touched);
    if (this.touching === 0) this.touching = window.setTimeout(() => this.touch(), TOUCH);
    const answered = everything
      ? await this.answered(() => this.questions.readAll(), touched)
      : await this.askForEach(batches);
    this.asking = 0;
    this.askSoon(answered ? ASK : AGAIN);
  }

  /** One that is refused does not cost the others their answer. */
  private async askForEach(batches: Taken["batches"]): Promise<boolean> {
    let all = true;
    for (const [id, tasks] of batches) {
      const about = { tasks: new Map([[id, tasks]]), batches: new Set([id]), everything: false };
      all = (await this.answered(() => this.questions.standing(id, tasks), about)) && all;
    }
    return all;
  }

  /** What is not answered is asked again; what is refused would be refused again. */
  private async answered(ask: () => Promise<unknown>, about: Touched): Promise<boolean> {
    try {
      await ask();
      return true;
    } catch (error) {
      if (!isRefusal(error)) this.dirt.add(about);
      else if (about.everything || isLogin(error)) this.failed(error);
      return false;
    }
  }

  private touch(): void {
    this.touching = 0;
    touchQueries(this.viewed.take());
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

function isRefusal(error: unknown): error is Refused {
  return error instanceof Refused && error.status < 500;
}

function isLogin({ status }: Refused): boolean {
  return status === 401 || status === 403;
}

function isSeen(): boolean {
  return document.visibilityState !== "hidden";
}
