/* The stream of events of one project: resumed where it was cut off, and given up only when the server refuses it.

   Not EventSource: that one does not come back after a 503, and does not tell a login that has ended from a server that has. */

import { createParser } from "eventsource-parser";
import type { PlaitEvent } from "../api/types";

export interface Listener {
  event(event: PlaitEvent): void;
  /** Everything that was read before is void. */
  reset(): void;
  up(): void;
  down(): void;
  /** The server will not let this one listen, and asking again would not change it: 401, 403, 404 … */
  refused(status: number): void;
}

const SILENCE = 40_000; // ms: there is a sign of life every 15 s
const FIRST_WAIT = 500;
const LONGEST_WAIT = 10_000;

type Decoder = ReadableWritablePair<string, Uint8Array>;

export class Stream {
  private readonly stopped = new AbortController();
  private last: string;
  private wait = FIRST_WAIT;

  constructor(
    private readonly project: string | null,
    since: string,
    private readonly listener: Listener,
  ) {
    this.last = since;
    void this.run();
  }

  /** Nothing is heard of it any more. */
  stop(): void {
    this.stopped.abort();
  }

  private get over(): boolean {
    return this.stopped.signal.aborted;
  }

  private async run(): Promise<void> {
    while (!this.over) {
      await this.connection().catch(() => undefined);
      if (this.over) return;
      this.listener.down();
      await pause(this.wait, this.stopped.signal);
      this.wait = Math.min(this.wait * 2, LONGEST_WAIT);
    }
  }

  /** One connection, to its end. */
  private async connection(): Promise<void> {
    const patience = new Patience();
    const signal = AbortSignal.any([this.stopped.signal, patience.signal]);
    try {
      const answer = await fetch(this.address(), { signal, headers: { Accept: "text/event-stream" } });
      if (this.over) return;
      if (answer.ok && answer.body !== null) {
        this.wait = FIRST_WAIT;
        this.listener.up();
        await this.listen(answer.body, patience);
      } else if (answer.status < 500 && answer.status !== 429) {
        this.stop();
        this.listener.refused(answer.status);
      }
    } finally {
      patience.end();
    }
  }

  private async listen(body: ReadableStream<Uint8Array>, patience: Patience): Promise<void> {
    const parser = createParser({
      onEvent: ({ id, event, data }) => {
        if (this.over) return;
        if (id !== undefined) this.last = id;
        if (event === "reset") this.listener.reset();
        else if (data !== "") this.listener.event(JSON.parse(data) as PlaitEvent);
      },
    });
    const reader = body.pipeThrough(new TextDecoderStream() as Decoder).getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      patience.renew();
      parser.feed(value);
    }
  }

  private address(): string {
    const said = new URLSearchParams({ since: this.last });
    if (this.project !== null) said.set("project", this.project);
    return `/api/events?${said}`;
  }
}

/** Ends what has been silent for too long: a connection may be dead without anybody having said so. */
class Patience {
  private readonly over = new AbortController();
  private timer = 0;

  constructor() {
    this.renew();
  }

  get signal(): AbortSignal {
    return this.over.signal;
  }

  renew(): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.over.abort(), SILENCE);
  }

  end(): void {
    window.clearTimeout(this.timer);
  }
}

/** Until then, or until the network is back or all is over. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
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
