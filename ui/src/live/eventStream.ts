/* The event stream of one project. It reconnects where it was cut off and ends only when the server refuses it.

   Not EventSource, which does not reconnect after a 503 and can't tell an expired login from a stopped server. */

import { createParser } from "eventsource-parser";
import type { PlaitEvent } from "../api/types";

interface StreamListener {
  event(event: PlaitEvent): void;
  /** Everything fetched before is invalid. */
  reset(): void;
  up(): void;
  down(): void;
  /** The server refuses the stream, and retrying wouldn't help: 401, 403, 404 … */
  refused(status: number): void;
}

const IDLE_TIMEOUT_MS = 40_000; // ms: there is a heartbeat every 15 s
const MIN_RETRY_MS = 500;
const MAX_RETRY_MS = 10_000;

type Decoder = ReadableWritablePair<string, Uint8Array>;

export class EventStream {
  private readonly stopped = new AbortController();
  private cursor: string;
  private retryMs = MIN_RETRY_MS;

  constructor(
    private readonly project: string | null,
    since: string,
    private readonly listener: StreamListener,
  ) {
    this.cursor = since;
    void this.run();
  }

  /** Stops the stream. */
  stop(): void {
    this.stopped.abort();
  }

  private get isStopped(): boolean {
    return this.stopped.signal.aborted;
  }

  private async run(): Promise<void> {
    while (!this.isStopped) {
      await this.connect().catch(() => undefined);
      if (this.isStopped) return;
      this.listener.down();
      await delay(this.retryMs, this.stopped.signal);
      this.retryMs = Math.min(this.retryMs * 2, MAX_RETRY_MS);
    }
  }

  /** Reads one connection to its end. */
  private async connect(): Promise<void> {
    const idleTimeout = new IdleTimeout();
    const signal = AbortSignal.any([this.stopped.signal, idleTimeout.signal]);
    try {
      const response = await fetch(this.url(), { signal, headers: { Accept: "text/event-stream" } });
      if (this.isStopped) return;
      if (response.ok && response.body !== null) {
        this.retryMs = MIN_RETRY_MS;
        this.listener.up();
        await this.listen(response.body, idleTimeout);
      } else if (response.status < 500 && response.status !== 429) {
        this.stop();
        this.listener.refused(response.status);
      }
    } finally {
      idleTimeout.clear();
    }
  }

  private async listen(body: ReadableStream<Uint8Array>, idleTimeout: IdleTimeout): Promise<void> {
    const parser = createParser({
      onEvent: ({ id, event, data }) => {
        if (this.isStopped) return;
        if (id !== undefined) this.cursor = id;
        if (event === "reset") this.listener.reset();
        else if (data !== "") this.listener.event(JSON.parse(data) as PlaitEvent);
      },
    });
    const reader = body.pipeThrough(new TextDecoderStream() as Decoder).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      idleTimeout.renew();
      parser.feed(value);
    }
  }

  private url(): string {
    const params = new URLSearchParams({ since: this.cursor });
    if (this.project !== null) params.set("project", this.project);
    return `/api/events?${params}`;
  }
}

/** Aborts a connection that has been silent for too long: it may be dead. */
class IdleTimeout {
  private readonly aborter = new AbortController();
  private timer = 0;

  constructor() {
    this.renew();
  }

  get signal(): AbortSignal {
    return this.aborter.signal;
  }

  renew(): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.aborter.abort(), IDLE_TIMEOUT_MS);
  }

  clear(): void {
    window.clearTimeout(this.timer);
  }
}

/** Waits that long, or until the network is back or the stream is stopped. */
function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const ended = new AbortController();
    const done = () => {
      window.clearTimeout(timer);
      ended.abort();
      resolve();
    };
    const timer = window.setTimeout(done, ms);
    window.addEventListener("online", done, { signal: ended.signal });
    signal.addEventListener("abort", done, { signal: ended.signal });
  });
}
