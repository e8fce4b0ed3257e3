/* Keeps the board up to date: one full fetch, then the event stream from its cursor, then fetches of the changed tasks.

   Law: a hidden window holds no stream, because a browser has only six connections to a server for all its windows.
   It polls instead. */

import { ApiError } from "../api/client";
import type { PlaitEvent } from "../api/types";
import { type BoardChanges, collectChanges } from "../model/board";
import { type ConnectionState, useBoard } from "../store/board";
import { BoardQueries } from "./boardQueries";
import { DirtyTasks, type DrainedTasks } from "./dirtyTasks";
import { EventStream } from "./eventStream";
import { invalidateChanged, queryClient } from "./queryClient";

const BUFFER_MS = 100; // ms: events within this time are rendered together
const FETCH_DELAY_MS = 300; // ms between two requests
const RETRY_MS = 2000; // ms until a failed request is repeated
const INVALIDATE_MS = 1000; // ms between two refetches of the views
const REFRESH_MS = 15_000; // ms between two readings of the sources by a window that nobody sees, and after a failure
const MIN_REFRESH_MS = 2_000;
const MAX_REFRESH_SHARE = 0.05; // of the time, for reading again what mostly has not changed

type BoardEventListener = (event: PlaitEvent) => void;

export class LiveUpdates {
  private stream: EventStream | null = null;
  private starting: Promise<void> | null = null;
  private events: PlaitEvent[] = [];
  private readonly dirtyTasks = new DirtyTasks();
  private readonly dirtyQueries = new DirtyTasks();
  private refusedBefore = false;
  private bufferTimer = 0;
  private fetchTimer = 0;
  private invalidateTimer = 0;
  private retryTimer = 0;
  private refreshTimer = 0;
  private readonly aborter = new AbortController();
  private readonly boardQueries = new BoardQueries(this.aborter.signal);
  private readonly listeners = new Set<BoardEventListener>();

  constructor(private readonly project: string | null) {
    const { signal } = this.aborter;
    document.addEventListener("visibilitychange", () => this.onVisibilityChange(), { signal });
    window.addEventListener("focus", () => void this.refresh(), { signal });
    this.scheduleRefresh(refreshDelay(0));
    void this.start();
  }

  stop(): void {
    this.aborter.abort();
    this.stream?.stop();
    for (const timer of [this.bufferTimer, this.fetchTimer, this.invalidateTimer, this.retryTimer])
      window.clearTimeout(timer);
    window.clearTimeout(this.refreshTimer);
  }

  /** Subscribes to every event; returns the function that unsubscribes. */
  subscribe(listener: BoardEventListener): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  /** Fetches everything again, after a change in the sources or when the window gets the focus. */
  async refresh(): Promise<void> {
    if (this.isStopped) return;
    if (this.stream === null && isPageVisible()) return this.start();
    try {
      await this.boardQueries.fetchAll();
      void queryClient.invalidateQueries({ queryKey: ["tasks"] });
      if (this.stream === null) this.setConnection("live");
    } catch (error) {
      this.onFetchFailed(error);
    }
  }

  private get isStopped(): boolean {
    return this.aborter.signal.aborted;
  }

  private setConnection(connection: ConnectionState): void {
    if (!this.isStopped) useBoard.setState({ connection });
  }

  private start(): Promise<void> {
    this.starting ??= this.boardQueries
      .fetchAll()
      .then((cursor) => this.openStream(cursor))
      .catch((error) => this.onFetchFailed(error))
      .finally(() => {
        this.starting = null;
      });
    return this.starting;
  }

  private openStream(since: string): void {
    if (this.isStopped) return;
    if (!isPageVisible()) {
      this.setConnection("live");
      return;
    }
    this.stream?.stop();
    // What views fetched before this cursor may be older than the first event.
    invalidateChanged({ batches: new Map(), everything: true });
    this.stream = new EventStream(this.project, since, {
      event: (event) => this.handleEvent(event),
      reset: () => this.reset(),
      up: () => {
        this.refusedBefore = false;
        this.setConnection("live");
      },
      down: () => this.setConnection("reconnecting"),
      refused: () => this.onStreamRefused(),
    });
  }

  /**
   * A fetch reports why the server refuses. If the fetch succeeds and only the stream is refused, don't fetch
   * again at once: that would loop.
   */
  private onStreamRefused(): void {
    this.stream = null;
    this.setConnection("reconnecting");
    if (!this.refusedBefore) void this.refresh();
    this.refusedBefore = true;
  }

  /** The journal was replaced: everything known is invalid. */
  private reset(): void {
    this.boardQueries.reset();
    useBoard.setState(({ board }) => ({ board: { ...board, activity: new Map() } }));
    void this.refresh();
    void queryClient.invalidateQueries();
  }

  private onFetchFailed(error: unknown): void {
    if (this.isStopped) return;
    if (isClientError(error)) {
      this.onRefused(error);
      return;
    }
    const { loaded } = useBoard.getState();
    if (this.stream === null) this.setConnection(loaded ? "reconnecting" : "connecting");
    if (!loaded) useBoard.setState({ failure: error });
    if (this.retryTimer === 0) this.retryTimer = window.setTimeout(() => this.retry(), RETRY_MS);
  }

  /** A refused request would be refused again, so it waits until the sources are fetched again. */
  private onRefused(error: ApiError): void {
    if (isLoginError(error)) {
      this.stream?.stop();
      this.stream = null;
      this.setConnection("lost");
    }
    // A removed project has no board; any other keeps the last data.
    if (error.status === 404) useBoard.setState({ loaded: false });
    useBoard.setState({ failure: error });
  }

  private retry(): void {
    this.retryTimer = 0;
    void this.refresh();
  }

  private handleEvent(event: PlaitEvent): void {
    this.events.push(event);
    for (const listener of this.listeners) this.notify(listener, event);
    if (this.bufferTimer === 0) this.bufferTimer = window.setTimeout(() => this.flush(), BUFFER_MS);
  }

  /** A listener that throws does not stop the stream. */
  private notify(listener: BoardEventListener, event: PlaitEvent): void {
    try {
      listener(event);
    } catch (error) {
      reportError(error);
    }
  }

  private flush(): void {
    this.bufferTimer = 0;
    const events = this.events;
    this.events = [];
    this.boardQueries.applyEvents(events);
    this.dirtyTasks.add(collectChanges(events));
    this.scheduleFetch(FETCH_DELAY_MS);
  }

  private scheduleFetch(wait: number): void {
    if (this.fetchTimer !== 0 || this.dirtyTasks.isEmpty || this.isStopped) return;
    this.fetchTimer = window.setTimeout(() => void this.fetchDirty(), wait);
  }

  private async fetchDirty(): Promise<void> {
    const { everything, batches, changes } = this.dirtyTasks.drain();
    this.dirtyQueries.add(changes);
    if (this.invalidateTimer === 0)
      this.invalidateTimer = window.setTimeout(() => this.invalidateQueries(), INVALIDATE_MS);
    const succeeded = everything
      ? await this.tryFetch(() => this.boardQueries.fetchAll(), changes)
      : await this.fetchBatches(batches);
    this.fetchTimer = 0;
    this.scheduleFetch(succeeded ? FETCH_DELAY_MS : RETRY_MS);
  }

  /** A refused request doesn't affect the others. */
  private async fetchBatches(batches: DrainedTasks["batches"]): Promise<boolean> {
    let all = true;
    for (const [id, tasks] of batches) {
      const about = { tasks: new Map([[id, tasks]]), batches: new Set([id]), everything: false };
      all = (await this.tryFetch(() => this.boardQueries.fetchTasks(id, tasks), about)) && all;
    }
    return all;
  }

  /** Failed requests are repeated; refused ones would be refused again. */
  private async tryFetch(request: () => Promise<unknown>, about: BoardChanges): Promise<boolean> {
    try {
      await request();
      return true;
    } catch (error) {
      if (!isClientError(error)) this.dirtyTasks.add(about);
      else if (about.everything || isLoginError(error)) this.onFetchFailed(error);
      return false;
    }
  }

  private invalidateQueries(): void {
    this.invalidateTimer = 0;
    invalidateChanged(this.dirtyQueries.drain());
  }

  private onVisibilityChange(): void {
    if (isPageVisible()) {
      void this.refresh();
    } else {
      this.stream?.stop();
      this.stream = null;
    }
  }

  /** Not without a login: then only a returning user triggers a fetch. */
  private async refreshPeriodically(): Promise<void> {
    const before = performance.now();
    if (useBoard.getState().connection !== "lost") await this.refresh();
    const { connection, failure } = useBoard.getState();
    const idle = connection !== "live" || failure !== null || !isPageVisible();
    this.scheduleRefresh(idle ? REFRESH_MS : refreshDelay(performance.now() - before));
  }

  /** Sources are files, and no event tells when they change. */
  private scheduleRefresh(wait: number): void {
    if (this.isStopped) return;
    this.refreshTimer = window.setTimeout(() => void this.refreshPeriodically(), wait);
  }
}

/** Milliseconds until the sources are read again, after it took so many: large projects are read less often. */
export function refreshDelay(took: number): number {
  return Math.min(REFRESH_MS, Math.max(MIN_REFRESH_MS, took / MAX_REFRESH_SHARE));
}

function isClientError(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status < 500;
}

function isLoginError({ status }: ApiError): boolean {
  return status === 401 || status === 403;
}

function isPageVisible(): boolean {
  return document.visibilityState !== "hidden";
}
