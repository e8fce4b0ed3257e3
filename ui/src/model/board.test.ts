import { describe, expect, it } from "vitest";
import {
  applyEvents,
  type Board,
  collectChanges,
  EMPTY_BOARD,
  replaceBoard,
  runKey,
  updateBatch,
} from "./board";
import { SAMPLE_TIME, sampleBatch, sampleEvent, sampleProgress, sampleRun, sampleTask } from "./testData";

const tasks = () => [
  sampleTask("01-walls", { batch: sampleRun("01-walls") }),
  sampleTask("02-roof", { batch: sampleRun("02-roof", { status: "waiting", reason: "needs 01-walls" }) }),
  sampleTask("03-door"),
];
const board = (): Board =>
  replaceBoard(
    EMPTY_BOARD,
    tasks(),
    [],
    [sampleBatch("7f3a", { progress: sampleProgress({ total: 2, queued: 2 }) })],
  );
const runOf = (known: Board, id: string) => known.tasks.get(id)?.batch;

describe("a full fetch", () => {
  it("keeps the order of the sources", () => {
    expect([...board().tasks.keys()]).toEqual(["01-walls", "02-roof", "03-door"]);
  });

  it("with the same data keeps the board's identity", () => {
    const before = board();
    const after = replaceBoard(
      before,
      tasks(),
      [],
      [...before.batches.values()].map((each) => structuredClone(each)),
    );
    expect(after.tasks).toBe(before.tasks);
    expect(after.batches).toBe(before.batches);
    expect(after.byRun).toBe(before.byRun);
  });

  it("keeps the identity of unchanged parts", () => {
    const before = board();
    const [walls, ...rest] = tasks();
    const after = replaceBoard(before, [{ ...(walls ?? sampleTask("")), title: "Walls" }, ...rest], [], []);
    expect(after.tasks.get("01-walls")?.title).toBe("Walls");
    expect(after.tasks.get("02-roof")).toBe(before.tasks.get("02-roof"));
  });

  it("removes the activity of tasks that no longer run", () => {
    const log = sampleEvent("execution:log", "01-walls", { entry: { kind: "activity", text: "editing" } });
    const working = applyEvents(board(), [sampleEvent("batch:task:started", "01-walls"), log]);
    expect(working.activity.get(runKey("7f3a", "01-walls"))).toBe("editing");
    expect(replaceBoard(working, tasks(), [], []).activity.size).toBe(0);
  });
});

describe("an event", () => {
  it("sets the status of its task at once", () => {
    const after = applyEvents(board(), [sampleEvent("batch:task:started", "01-walls", { attempt: 1 })]);
    expect(runOf(after, "01-walls")).toMatchObject({ status: "running", attempt: 1, startedAt: SAMPLE_TIME });
  });

  it("changes no other task", () => {
    const before = board();
    const after = applyEvents(before, [sampleEvent("batch:task:started", "01-walls")]);
    expect(after.tasks.get("02-roof")).toBe(before.tasks.get("02-roof"));
    expect(after.tasks.get("03-door")).toBe(before.tasks.get("03-door"));
  });

  it("without news keeps the board's identity", () => {
    const before = applyEvents(board(), [sampleEvent("batch:task:started", "01-walls", { attempt: 1 })]);
    const after = applyEvents(before, [
      sampleEvent("batch:task:started", "01-walls", { attempt: 1 }),
      sampleEvent("batch:task:started", "unknown"),
    ]);
    expect(after.tasks).toBe(before.tasks);
    expect(after.batches).toBe(before.batches);
  });

  it("with agent output doesn't change tasks", () => {
    const before = board();
    const after = applyEvents(before, [
      sampleEvent("execution:log", "01-walls", { entry: { kind: "activity", text: "editing src/app.py" } }),
    ]);
    expect(after.tasks).toBe(before.tasks);
    expect(after.activity.get(runKey("7f3a", "01-walls"))).toBe("editing src/app.py");
  });

  it("that ends a task removes its activity", () => {
    const after = applyEvents(board(), [
      sampleEvent("batch:task:started", "01-walls"),
      sampleEvent("batch:task:phase", "01-walls", { phase: "Panel" }),
      sampleEvent("batch:task:failed", "01-walls", { reason: "exit status 1" }),
    ]);
    expect(after.activity.size).toBe(0);
    expect(runOf(after, "01-walls")).toMatchObject({ status: "failed", reason: "exit status 1" });
  });

  it("of a merge sets the commit, which drop and review depend on", () => {
    const after = applyEvents(board(), [
      sampleEvent("batch:task:merged", "01-walls", { commit: "c0ffee" }),
      sampleEvent("batch:task:completed", "01-walls"),
    ]);
    expect(runOf(after, "01-walls")).toMatchObject({ status: "done", commit: "c0ffee" });
  });

  it("of a merge makes the task one to review, until the batch is published", () => {
    const merged = sampleEvent("batch:task:merged", "01-walls", { commit: "c0ffee" });
    const completed = sampleEvent("batch:task:completed", "01-walls");
    for (const events of [
      [merged, completed],
      [completed, merged],
    ])
      expect(runOf(applyEvents(board(), events), "01-walls")).toMatchObject({ review: true });
    expect(runOf(applyEvents(board(), [completed]), "01-walls")).toMatchObject({ review: false });
  });

  it("marks tasks that wait for an answer or an approval, and no others", () => {
    const asked = applyEvents(board(), [
      sampleEvent("batch:task:needs_input", "01-walls", { question: "Which door?" }),
    ]);
    expect(runOf(asked, "01-walls")).toMatchObject({
      needsYou: true,
      reason: "Which door?",
      waiting: "answer",
    });
    const queue = applyEvents(board(), [sampleEvent("batch:task:waiting", "01-walls", { on: "approval" })]);
    expect(runOf(queue, "01-walls")).toMatchObject({ needsYou: true, waiting: "approval" });
    const files = applyEvents(queue, [sampleEvent("batch:task:waiting", "01-walls", { on: "files" })]);
    expect(runOf(files, "01-walls")).toMatchObject({ needsYou: false, waiting: "files" });
  });

  it("of progress updates the counts of its batch", () => {
    const after = applyEvents(board(), [
      sampleEvent("batch:progress", null, { total: 2, queued: 0, completed: 2, percentage: 100 }),
    ]);
    expect(after.batches.get("7f3a")?.progress).toEqual(
      sampleProgress({ total: 2, completed: 2, percentage: 100 }),
    );
  });

  it.each([
    ["batch:paused", "paused"],
    ["batch:unpaused", "running"],
    ["batch:completed", "completed"],
    ["batch:failed", "failed"],
    ["batch:cancelled", "cancelled"],
  ] as const)("%s leaves its batch %s", (type, status) => {
    const after = applyEvents(board(), [sampleEvent(type, null, { reason: "so it is" })]).batches.get("7f3a");
    expect([after?.status, after?.reason]).toEqual([status, "so it is"]);
  });
});

it("the end of a partial batch has its status and counts", () => {
  const progress = sampleProgress({ total: 2, completed: 1, failed: 1, percentage: 100 });
  const ended = sampleEvent("batch:completed", null, {
    status: "partial",
    progress,
    reason: "1 merged, 1 not merged",
  });
  const after = applyEvents(board(), [ended]).batches.get("7f3a");
  expect([after?.status, after?.progress]).toEqual(["partial", progress]);
});

describe("a fetch of some tasks", () => {
  it("replaces these tasks and no others", () => {
    const before = board();
    const walls = sampleRun("01-walls", { status: "done", diffstat: { files: 1, added: 2, removed: 0 } });
    const after = updateBatch(before, sampleBatch("7f3a", { status: "merging" }), [walls]);
    expect(runOf(after, "01-walls")).toEqual(walls);
    expect(after.tasks.get("02-roof")).toBe(before.tasks.get("02-roof"));
    expect(after.batches.get("7f3a")?.status).toBe("merging");
  });

  it("without news keeps the board's identity", () => {
    const before = board();
    const known = structuredClone(before.batches.get("7f3a") ?? sampleBatch("7f3a"));
    const after = updateBatch(before, known, [sampleRun("01-walls")]);
    expect(after.tasks).toBe(before.tasks);
    expect(after.batches).toBe(before.batches);
  });

  it("of an older batch doesn't replace a newer run", () => {
    const before = board();
    const old = sampleRun("01-walls", { batchId: "0ld0", status: "failed" });
    expect(updateBatch(before, sampleBatch("7f3a"), [old]).tasks).toBe(before.tasks);
  });
});

describe("what is fetched after events", () => {
  it("is the tasks they name, except for agent output", () => {
    const after = collectChanges([
      sampleEvent("batch:task:completed", "01-walls"),
      sampleEvent("execution:log", "02-roof", { seq: null }),
      sampleEvent("batch:progress", null),
    ]);
    expect(after.tasks).toEqual(new Map([["7f3a", new Set(["01-walls"])]]));
    expect(after.batches).toEqual(new Set(["7f3a"]));
    expect(after.everything).toBe(false);
  });

  it.each([
    sampleEvent("batch:created", null),
    sampleEvent("batch:completed", null),
    sampleEvent("batch:progress", null, { publishing: "done" }),
  ])("is everything after what changes tasks that it does not name: $type", (each) => {
    expect(collectChanges([each]).everything).toBe(true);
  });

  it("is nothing after events without a batch", () => {
    const {
      tasks: named,
      batches,
      everything,
    } = collectChanges([sampleEvent("engine:taken", null, { batchId: null })]);
    expect([named.size, batches.size, everything]).toEqual([0, 0, false]);
  });
});
