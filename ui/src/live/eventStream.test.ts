import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { EventStream } from "./eventStream";

/** A fake clock, which advances while something waits. */
async function waitUntil(what: () => boolean): Promise<void> {
  for (let n = 0; n < 5000 && !what(); n++) await vi.advanceTimersByTimeAsync(10);
  expect(what()).toBe(true);
}

type Connection = { url: URL; send(text: string): void; cut(): void; finish(): void };

/** A fake server behind `fetch`: each request waits here until the test answers it. */
class Server {
  readonly asked: { url: URL; at: number }[] = [];
  private readonly waiting: {
    url: URL;
    signal: AbortSignal;
    answer(response: Response): void;
    fail(): void;
  }[] = [];

  readonly fetch = (address: string, { signal }: { signal: AbortSignal }): Promise<Response> => {
    const url = new URL(address, "http://here");
    this.asked.push({ url, at: Date.now() });
    return new Promise((answer, reject) => {
      const fail = () => reject(new TypeError("Failed to fetch"));
      signal.addEventListener("abort", fail);
      this.waiting.push({ url, signal, answer, fail });
    });
  };

  async accept(): Promise<Connection> {
    const { url, signal, answer } = await this.next();
    let out: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        out = controller;
      },
    });
    const cut = () => out?.error(new TypeError("network error"));
    signal.addEventListener("abort", cut);
    answer(new Response(body, { status: 200 }));
    return {
      url,
      send: (text) => out?.enqueue(new TextEncoder().encode(text)),
      cut,
      finish: () => out?.close(),
    };
  }

  async refuse(status: number): Promise<void> {
    (await this.next()).answer(new Response("", { status }));
  }

  async drop(): Promise<void> {
    (await this.next()).fail();
  }

  private async next() {
    await waitUntil(() => this.waiting.length > 0);
    const [first] = this.waiting.splice(0, 1);
    if (first === undefined) throw new Error("there was no request");
    return first;
  }
}

const startedEvent = (id: string, task: string) =>
  `id: ${id}\nevent: batch:task:started\ndata: ${JSON.stringify({ type: "batch:task:started", taskId: task })}\n\n`;

let server: Server;
let heard: string[];
let stream: EventStream;

function listen(since = "j:1", project: string | null = null): void {
  stream = new EventStream(project, since, {
    event: ({ taskId }) => heard.push(String(taskId)),
    reset: () => heard.push("reset"),
    up: () => heard.push("up"),
    down: () => heard.push("down"),
    refused: (status) => heard.push(`refused ${status}`),
  });
}

beforeEach(() => {
  server = new Server();
  heard = [];
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] });
  vi.stubGlobal("fetch", server.fetch);
  vi.stubGlobal("window", Object.assign(new EventTarget(), { setTimeout, clearTimeout }));
});

afterEach(() => {
  stream.stop();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("an event stream", () => {
  it("starts at the cursor of the fetched data, in its project", async () => {
    listen("j:41", "p1");
    const { url } = await server.accept();
    expect(url.pathname).toBe("/api/events");
    expect(Object.fromEntries(url.searchParams)).toEqual({ since: "j:41", project: "p1" });
  });

  it("resumes after the last complete event, without a gap or a repeat", async () => {
    listen();
    const first = await server.accept();
    first.send(startedEvent("j:2", "01-walls"));
    first.send(startedEvent("j+1:3", "02-roof").slice(0, 40)); // half of it
    await waitUntil(() => heard.includes("01-walls"));
    first.cut();
    const second = await server.accept();
    expect(second.url.searchParams.get("since")).toBe("j:2");
    second.send(startedEvent("j+1:3", "02-roof"));
    await waitUntil(() => heard.includes("02-roof"));
    expect(heard).toEqual(["up", "01-walls", "down", "up", "02-roof"]);
  });

  it("keeps its cursor during agent output, which has no id", async () => {
    listen();
    const first = await server.accept();
    first.send(startedEvent("j:2", "01-walls"));
    first.send('event: execution:log\ndata: {"type":"execution:log","taskId":"logged"}\n\n');
    await waitUntil(() => heard.includes("logged"));
    first.finish();
    expect((await server.accept()).url.searchParams.get("since")).toBe("j:2");
  });

  it("reports a reset and continues with the new journal", async () => {
    listen();
    const first = await server.accept();
    first.send('id: other:9\nevent: reset\ndata: {"type":"reset"}\n\n');
    await waitUntil(() => heard.includes("reset"));
    first.cut();
    expect((await server.accept()).url.searchParams.get("since")).toBe("other:9");
  });

  it("backs off between attempts, up to a limit, and resets after a success", async () => {
    listen();
    for (let n = 0; n < 8; n++) await server.drop();
    (await server.accept()).cut();
    await server.drop();
    await waitUntil(() => server.asked.length === 11);
    const waits = server.asked.slice(1).map(({ at }, n) => at - (server.asked[n]?.at ?? 0));
    const expected = [500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000, 500, 1000];
    expect(waits.map((ms) => Math.round(ms / 100) * 100)).toEqual(expected);
  });

  it("reconnects after a 503", async () => {
    listen();
    await server.refuse(503);
    await server.accept();
    await waitUntil(() => heard.includes("up"));
    expect(heard).toEqual(["down", "up"]);
  });

  it.each([401, 403, 404])("ends if the server refuses it: %d", async (status) => {
    listen();
    await server.refuse(status);
    await waitUntil(() => heard.length > 0);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(heard).toEqual([`refused ${status}`]);
    expect(server.asked).toHaveLength(1);
  });

  it("reconnects after missing heartbeats", async () => {
    listen();
    const first = await server.accept();
    await waitUntil(() => heard.includes("up"));
    await vi.advanceTimersByTimeAsync(30_000);
    first.send(":\n\n");
    await vi.advanceTimersByTimeAsync(30_000);
    expect(heard).toEqual(["up"]);
    await vi.advanceTimersByTimeAsync(15_000);
    await waitUntil(() => heard.includes("down"));
  });

  it("calls nothing after it was stopped", async () => {
    listen();
    const first = await server.accept();
    await waitUntil(() => heard.includes("up"));
    first.send(startedEvent("j:2", "01-walls"));
    stream.stop();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(heard).toEqual(["up"]);
    expect(server.asked).toHaveLength(1);
  });
});
