/* Tasks, runs and batches for tests, as the server returns them. */

import type { BatchSummary, EventType, PlaitEvent, Progress, Run, Task } from "../api/types";

export const SAMPLE_TIME = "2026-11-15T10:00:00.000Z";

export function sampleRun(taskId: string, more: Partial<Run> = {}): Run {
  return {
    batchId: "7f3a",
    taskId,
    status: "queued",
    reason: "",
    short: "",
    waiting: null,
    needsYou: false,
    category: null,
    agent: null,
    attempt: 0,
    phase: null,
    commit: null,
    startedAt: null,
    seconds: 0,
    workingSince: null,
    completedAt: null,
    cost: { usd: 0, tokens: 0 },
    diffstat: null,
    review: false,
    shipped: false,
    ...more,
  };
}

export function sampleTask(id: string, more: Partial<Task> = {}): Task {
  return {
    id,
    title: id,
    status: "pending",
    source: `tasks/${id}.md:1`,
    format: "folder",
    needs: [],
    parts: [],
    touches: [],
    conflictsWith: [],
    phase: null,
    phaseTitle: null,
    priority: 1,
    weight: 1,
    agent: null,
    model: null,
    run: null,
    verify: null,
    editable: true,
    notEditable: null,
    batch: null,
    ...more,
  };
}

export function sampleProgress(more: Partial<Progress> = {}): Progress {
  return {
    total: 0,
    queued: 0,
    waiting: 0,
    running: 0,
    completed: 0,
    failed: 0,
    timedOut: 0,
    blocked: 0,
    conflicted: 0,
    skipped: 0,
    cancelled: 0,
    interrupted: 0,
    percentage: 0,
    ...more,
  };
}

export function sampleBatch(id: string, more: Partial<BatchSummary> = {}): BatchSummary {
  return {
    id,
    name: id,
    projectId: null,
    status: "running",
    reason: "",
    pauseCause: null,
    mode: "parallel",
    branch: null,
    base: null,
    prUrl: null,
    shipped: null,
    unshipped: null,
    unwritten: [],
    hint: null,
    settings: {} as BatchSummary["settings"],
    createdAt: SAMPLE_TIME,
    startedAt: null,
    seconds: 0,
    agentSeconds: 0,
    workingSince: null,
    completedAt: null,
    eta: null,
    etaBasis: null,
    cost: { usd: 0, tokens: 0 },
    progress: sampleProgress(),
    ...more,
  };
}

export function sampleEvent(
  type: EventType,
  taskId: string | null,
  more: Partial<PlaitEvent> = {},
): PlaitEvent {
  return { seq: 1, at: SAMPLE_TIME, type, batchId: "7f3a", taskId, attempt: null, ...more };
}
