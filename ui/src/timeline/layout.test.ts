import { describe, expect, test } from "vitest";
import type { Timeline } from "../api/types";
import { formatInstant, openEnd, ticks, type Zone } from "./axis";
import { buildChart, nextPosition, packLanes } from "./layout";
import { describeBar, describeGap, formatSummary, summarizeTimeline } from "./timelineText";

const BEGUN = Date.parse("2026-11-15T10:00:00.000Z");
const at = (seconds: number) => new Date(BEGUN + seconds * 1000).toISOString();
const UTC: Zone = () => 0;
type Span = Timeline["spans"][number];
type Course = Timeline["tasks"][number];

function span(kind: Span["kind"], from: number, to: number | null, more: Partial<Span> = {}): Span {
  const result = to === null ? null : "ok";
  const rest = { n: 1, agent: "shell", result, detail: null, endedFor: null };
  return { kind, startedAt: at(from), completedAt: to === null ? null : at(to), ...rest, ...more };
}

function taskTimeline(taskId: string, spans: Span[], more: Partial<Course> = {}): Course {
  return { taskId, title: taskId, status: null, spans, waits: [], retries: [], ...more };
}

function timelineOf(tasks: Course[], more: Partial<Timeline> = {}): Timeline {
  return { batchId: "7f3a", startedAt: at(0), completedAt: null, tasks, spans: [], ...more };
}

const AGAIN = { at: at(20), retryAt: at(50), why: "exit status 1", category: "task" as const, counted: true };

describe("a chart", () => {
  test("is null for a batch that has not started", () => {
    expect(buildChart(timelineOf([], { startedAt: null }), BEGUN)).toBeNull();
  });

  test("is empty for a batch without tasks", () => {
    const chart = buildChart(timelineOf([], { completedAt: at(0) }), BEGUN);
    expect(chart).toMatchObject({ from: BEGUN, to: BEGUN + 1000, now: null, rows: [], batchBars: [] });
  });

  test("extends beyond now while something is open", () => {
    const chart = buildChart(timelineOf([taskTimeline("walls", [span("write", 5, null)])]), BEGUN + 60_000);
    const bar = chart?.rows[0]?.bars[0];
    expect(bar).toMatchObject({ from: BEGUN + 5_000, to: BEGUN + 60_000, open: true });
    expect(chart?.now).toBe(BEGUN + 60_000);
    expect(chart?.to).toBeGreaterThan(BEGUN + 60_000);
  });

  test("ends with the batch, without a now line", () => {
    const chart = buildChart(
      timelineOf([taskTimeline("walls", [span("write", 0, 30)])], { completedAt: at(40) }),
      BEGUN + 9e9,
    );
    expect(chart).toMatchObject({ to: BEGUN + 40_000, now: null });
  });

  test("nothing ends before it starts, even if a clock is behind or was set back", () => {
    const late = buildChart(
      timelineOf([taskTimeline("walls", [span("write", 30, null), span("verify", 20, 10)])]),
      BEGUN,
    );
    expect(late?.now).toBe(BEGUN + 30_000);
    expect(late?.rows[0]?.bars.map(({ from, to }) => to - from)).toEqual([0, 0]);
  });

  test("a failed attempt has the retry that followed; others have none", () => {
    const spans = [
      span("write", 0, 20, { result: "task" }),
      span("write", 50, 60, { n: 2 }),
      span("verify", 60, 70),
    ];
    const chart = buildChart(
      timelineOf([taskTimeline("walls", spans, { retries: [AGAIN] })]),
      BEGUN + 70_000,
    );
    expect(chart?.rows[0]?.bars.map(({ retry }) => retry?.why ?? null)).toEqual([
      "exit status 1",
      null,
      null,
    ]);
  });

  test("a wait after a failure is a backoff, then a wait for its turn", () => {
    const waits = [
      { startedAt: at(0), completedAt: at(5) },
      { startedAt: at(20), completedAt: at(55) },
    ];
    const chart = buildChart(
      timelineOf([taskTimeline("walls", [], { waits, retries: [AGAIN] })]),
      BEGUN + 60_000,
    );
    const gaps = chart?.rows[0]?.gaps.map(({ from, to, backoff }) => [
      (from - BEGUN) / 1000,
      (to - BEGUN) / 1000,
      backoff !== null,
    ]);
    expect(gaps).toEqual([
      [0, 5, false],
      [20, 50, true],
      [50, 55, false],
    ]);
  });

  test("a pending backoff extends to its end, beyond now", () => {
    const waits = [{ startedAt: at(20), completedAt: null }];
    const chart = buildChart(
      timelineOf([taskTimeline("walls", [], { waits, retries: [AGAIN] })]),
      BEGUN + 30_000,
    );
    expect(chart?.rows[0]?.gaps).toMatchObject([{ to: BEGUN + 50_000, open: true, backoff: AGAIN }]);
    expect(chart?.to).toBeGreaterThan(BEGUN + 50_000);
  });

  test("a task that has not ended has the status of its running work", () => {
    const tasks = [
      taskTimeline("walls", [span("write", 0, 9), span("verify", 9, null)]),
      taskTimeline("roof", []),
      taskTimeline("door", [span("write", 0, 9)], { status: "failed" }),
    ];
    const chart = buildChart(timelineOf(tasks), BEGUN + 20_000);
    expect(chart?.rows.map(({ status }) => status)).toEqual(["verifying", "failed", "waiting"]);
  });

  test("has the tasks by start, and those that have not started in the order of the plan", () => {
    const tasks = [
      taskTimeline("roof", []),
      taskTimeline("door", [span("write", 9, 12)]),
      taskTimeline("walls", [span("write", 2, 9), span("write", 12, 14)]),
      taskTimeline("bell", []),
    ];
    const chart = buildChart(timelineOf(tasks), BEGUN + 20_000);
    expect(chart?.rows.map(({ task }) => task)).toEqual(["walls", "door", "roof", "bell"]);
  });

  test("is not compressed by what happens much later", () => {
    const night = [taskTimeline("walls", [span("write", 0, 600)])];
    const push = { spans: [span("publish", 40_000, 40_010)], completedAt: at(600) };
    const { rows, scale } = buildChart(timelineOf(night, push), BEGUN + 9e7) ?? {};
    const bar = rows?.[0]?.bars[0];
    expect(scale?.breaks).toEqual([{ from: BEGUN + 600_000, to: BEGUN + 40_000_000 }]);
    expect((scale?.place(bar?.to ?? 0) ?? 0) - (scale?.place(bar?.from ?? 0) ?? 0)).toBeGreaterThan(0.9);
    expect(scale?.place(BEGUN + 40_000_000)).toBeGreaterThan(scale?.place(BEGUN + 600_000) ?? 1);
  });

  test("folds the time until now while nothing runs, and keeps room after it", () => {
    const spans = [span("pause", 60, null)];
    const chart = buildChart(
      timelineOf([taskTimeline("walls", [span("write", 0, 60)])], { spans }),
      BEGUN + 3_600_000,
    );
    expect(chart?.scale.breaks).toEqual([{ from: BEGUN + 60_000, to: BEGUN + 3_600_000 }]);
    expect((chart?.to ?? 0) - BEGUN).toBeLessThan(3_700_000);
    expect(chart?.scale.place(chart.now ?? 0)).toBeLessThan(1);
  });

  test("folds nothing that is short beside the work", () => {
    const spans = [span("write", 0, 600), span("write", 700, 1300, { n: 2 })];
    const scale = buildChart(timelineOf([taskTimeline("walls", spans)]), BEGUN + 1_300_000)?.scale;
    expect(scale?.breaks).toEqual([]);
    expect(scale?.segments).toHaveLength(1);
  });

  test("concurrent events of the batch get separate rows", () => {
    const spans = [span("gate", 0, 10), span("pause", 5, 20), span("publish", 10, 12)];
    const own = buildChart(timelineOf([], { spans }), BEGUN + 20_000)?.batchBars ?? [];
    expect(packLanes(own).map((lane) => lane.map((bar) => bar.span.kind))).toEqual([
      ["gate", "publish"],
      ["pause"],
    ]);
  });

  test("looks at each attempt as often in a batch of 1,000 tasks as in one of 10", () => {
    const readsPerTask = (count: number) => {
      let reads = 0;
      const counted = (each: Span): Span =>
        new Proxy(each, {
          get: (target, name) => {
            reads += 1;
            return target[name as keyof Span];
          },
        });
      const tasks = Array.from({ length: count }, (_, n) =>
        taskTimeline(`t${n}`, [counted(span("write", n, n + 9)), counted(span("merge", n + 12, n + 13))]),
      );
      expect(buildChart(timelineOf(tasks), BEGUN + 2e6)?.rows).toHaveLength(count);
      return reads / count;
    };
    expect(readsPerTask(1000)).toBe(readsPerTask(10));
  });
});

describe("ticks", () => {
  const labels = (seconds: number, width: number, zone: Zone, from = BEGUN) =>
    ticks(from, from + seconds * 1000, width, zone).map(({ label }) => label);

  test("are round and readable", () => {
    expect(labels(60, 800, UTC)).toEqual([
      "10:00:00",
      "10:00:10",
      "10:00:20",
      "10:00:30",
      "10:00:40",
      "10:00:50",
      "10:01:00",
    ]);
    expect(labels(600, 500, UTC)).toEqual(["10:00", "10:02", "10:04", "10:06", "10:08", "10:10"]);
    for (const width of [200, 777, 5000])
      for (const seconds of [3, 100, 5000, 1e6]) {
        const all = ticks(BEGUN, BEGUN + seconds * 1000, width, UTC).map((tick) => tick.at);
        for (const [n, tick] of all.slice(1).entries())
          expect(((tick - (all[n] ?? 0)) / 1000 / seconds) * width).toBeGreaterThanOrEqual(84);
      }
  });

  test("are round in local time, even with a half-hour offset", () => {
    const delhi: Zone = () => 5.5 * 3_600_000;
    expect(labels(4 * 3600, 450, delhi)).toEqual(["16:00", "17:00", "18:00", "19:00"]);
    const behind: Zone = () => -3.5 * 3_600_000;
    expect(labels(4 * 3600, 450, behind)).toEqual(["07:00", "08:00", "09:00", "10:00"]);
  });

  test("a new day has its date", () => {
    expect(labels(4 * 3600, 450, UTC, Date.parse("2026-11-15T22:00:00Z"))[2]).toMatch(/16.*00:00/);
    expect(labels(5 * 86400, 450, UTC).every((label) => /Nov|11/.test(label))).toBe(true);
  });

  test("handle daylight saving changes", () => {
    const change = Date.parse("2026-10-25T01:00:00Z");
    const autumn: Zone = (when) => (when < change ? 2 : 1) * 3_600_000;
    const spring: Zone = (when) => (when < change ? 1 : 2) * 3_600_000;
    for (const zone of [autumn, spring]) {
      const found = ticks(change - 6 * 3_600_000, change + 6 * 3_600_000, 1200, zone).map((tick) => tick.at);
      expect(found.length).toBeGreaterThan(9);
      expect(found).toEqual(found.toSorted((a, b) => a - b));
    }
  });

  test("there are none on an empty axis", () => {
    expect(ticks(BEGUN, BEGUN, 800, UTC)).toEqual([]);
    expect(ticks(BEGUN, BEGUN - 1, 800, UTC)).toEqual([]);
    expect(ticks(BEGUN, BEGUN + 1, 0, UTC)).toEqual([]);
  });
});

test("an open timeline grows in steps", () => {
  const ends = new Set(Array.from({ length: 600 }, (_, n) => openEnd(BEGUN, BEGUN + n * 1000)));
  expect(ends.size).toBeLessThan(12);
  for (const n of [0, 29, 30, 400])
    expect(openEnd(BEGUN, BEGUN + n * 1000)).toBeGreaterThan(BEGUN + n * 1000);
});

test("a time includes the day only if it differs", () => {
  expect(formatInstant(BEGUN, UTC)).toBe("10:00:00");
  expect(formatInstant(BEGUN, UTC, BEGUN - 86_400_000)).toMatch(/15.*10:00:00/);
});

describe("the summary", () => {
  test("shows how long the batch took, with its waits", () => {
    const tasks = [
      taskTimeline("walls", [span("write", 0, 60), span("verify", 60, 90), span("merge", 90, 100)]),
      taskTimeline("roof", [span("write", 0, 80)], {
        waits: [{ startedAt: at(80), completedAt: at(92) }],
        retries: [AGAIN],
      }),
    ];
    const sample = timelineOf(tasks, { completedAt: at(100) });
    const chart = buildChart(sample, BEGUN);
    expect(chart && formatSummary(summarizeTimeline(sample, chart))).toBe(
      "1m 40s from start to end · longest wait 12s (roof) · 1 retry",
    );
  });
});

test("arrow keys move between spans and tasks, and stop at the ends", () => {
  const rows = [{ bars: [1, 2] }, { bars: [] }, { bars: [1] }] as unknown as Parameters<
    typeof nextPosition
  >[0];
  const go = (row: number, place: number, key: string) => {
    const next = nextPosition(rows, { row, place }, key);
    return next && [next.row, next.place];
  };
  expect(go(0, 0, "ArrowRight")).toEqual([0, 1]);
  expect(go(0, 2, "ArrowRight")).toEqual([0, 2]);
  expect(go(0, 2, "ArrowDown")).toEqual([1, 0]);
  expect(go(0, 0, "ArrowUp")).toEqual([0, 0]);
  expect(go(1, 0, "End")).toEqual([2, 0]);
  expect(go(2, 1, "Home")).toEqual([0, 0]);
  expect(go(0, 0, "PageDown")).toEqual([2, 0]);
  expect(go(0, 0, "x")).toBeNull();
});

describe("the text of a span", () => {
  const bars = (spans: Span[], retries: Course["retries"] = []) =>
    buildChart(timelineOf([taskTimeline("walls", spans, { retries })]), BEGUN + 60_000)?.rows[0]?.bars.map(
      (bar) => describeBar(bar, UTC),
    ) ?? [];

  test("has the agent, duration and result", () => {
    expect(bars([span("write", 0, 12)])).toEqual([
      "Write, attempt 1, by shell: ok, 12s, from 10:00:00 to 10:00:12",
    ]);
    expect(bars([span("write", 0, null)])).toEqual([
      "Write, attempt 1, by shell: running, 1m 00s, since 10:00:00",
    ]);
    expect(bars([span("merge", 3, 4, { result: "conflicted", detail: "app.py", agent: null })])).toEqual([
      "Merge, attempt 1: conflicted, 1s, from 10:00:03 to 10:00:04. app.py",
    ]);
  });

  test("has the reason and what followed", () => {
    const [first] = bars([span("write", 0, 20, { result: "timeout", endedFor: "timeout" })], [AGAIN]);
    expect(first).toBe(
      "Write, attempt 1, by shell: timed out, 20s, from 10:00:00 to 10:00:20. Stopped by plait: it took too long. Retry not before 10:00:50: exit status 1",
    );
  });

  test("of a wait has its end", () => {
    const waits = [{ startedAt: at(20), completedAt: null }];
    const row = buildChart(
      timelineOf([taskTimeline("walls", [], { waits, retries: [AGAIN] })]),
      BEGUN + 30_000,
    )?.rows[0];
    expect(row?.gaps.map((gap) => describeGap(gap, UTC))).toEqual([
      "Backing off until 10:00:50: exit status 1",
    ]);
  });
});
