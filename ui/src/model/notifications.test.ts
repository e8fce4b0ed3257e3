import { describe, expect, it } from "vitest";
import type { BatchSummary, Run } from "../api/types";
import { EMPTY_BOARD, replaceBoard } from "./board";
import { findNotifications } from "./notifications";
import { sampleBatch, sampleProgress, sampleRun, sampleTask } from "./testData";

const board = (more: Partial<Run>, batch: Partial<BatchSummary> = {}) =>
  replaceBoard(
    EMPTY_BOARD,
    [sampleTask("01-walls", { batch: sampleRun("01-walls", more) })],
    [],
    [sampleBatch("7f3a", batch)],
  );
const notifyAbout = (before: Partial<Run>, now: Partial<Run>) =>
  findNotifications(board(before), board(now)).map(({ title, text }) => `${title}: ${text}`);

describe("notifies", () => {
  it("when a task needs a person", () => {
    expect(
      notifyAbout({ status: "running" }, { status: "waiting", needsYou: true, reason: "Which door?" }),
    ).toEqual(["01-walls needs you: Which door?"]);
  });

  it("when a task fails, times out or conflicts", () => {
    expect(notifyAbout({ status: "running" }, { status: "failed", reason: "exit status 1" })).toEqual([
      "01-walls failed: exit status 1",
    ]);
    expect(notifyAbout({ status: "running" }, { status: "timed_out" })).toEqual(["01-walls timed out: "]);
  });

  it("when a batch ends", () => {
    const over = { status: "completed", progress: sampleProgress({ total: 3, completed: 3 }) } as const;
    expect(findNotifications(board({}), board({}, over))).toMatchObject([
      { title: "7f3a completed", text: "batch 7f3a: 3 of 3 tasks done", batch: "7f3a", task: null },
    ]);
  });

  it("when a task of a new batch has failed", () => {
    const before = replaceBoard(EMPTY_BOARD, [sampleTask("01-walls")], [], []);
    expect(findNotifications(before, board({ status: "failed" })).map(({ title }) => title)).toEqual([
      "01-walls failed",
    ]);
  });
});

describe("doesn't notify", () => {
  it("about an unchanged state", () => {
    expect(notifyAbout({ status: "failed" }, { status: "failed", reason: "more words" })).toEqual([]);
    expect(notifyAbout({ needsYou: true }, { needsYou: true, reason: "more words" })).toEqual([]);
  });

  it("about what was there when the board was loaded", () => {
    expect(
      findNotifications(EMPTY_BOARD, board({ status: "failed", needsYou: true }, { status: "completed" })),
    ).toEqual([]);
  });

  it("when a task is done or cancelled", () => {
    expect(notifyAbout({ status: "running" }, { status: "done" })).toEqual([]);
    expect(notifyAbout({ status: "running" }, { status: "cancelled" })).toEqual([]);
  });
});

it("has the same tag in every window, and another one for another attempt", () => {
  const tag = (attempt: number) =>
    findNotifications(board({ attempt }), board({ attempt, status: "failed" }))[0]?.tag;
  expect(tag(1)).toBe(tag(1));
  expect(tag(1)).not.toBe(tag(2));
});
