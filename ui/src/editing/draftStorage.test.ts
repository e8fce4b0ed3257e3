import { describe, expect, it } from "vitest";
import {
  loadTaskDraft,
  NEW_TASK,
  removeTaskDraft,
  type StoredDraft,
  saveTaskDraft,
  taskDraftKey,
} from "./draftStorage";
import { EMPTY_TASK } from "./taskDraft";

function store(full = false) {
  const items = new Map<string, string>();
  return {
    getItem: (name: string) => items.get(name) ?? null,
    removeItem: (name: string) => void items.delete(name),
    setItem: (name: string, text: string) => {
      if (full) throw new Error("there is no room");
      items.set(name, text);
    },
  };
}

const written: StoredDraft = {
  base: NEW_TASK,
  draft: { ...EMPTY_TASK, title: "Roof" },
  text: "",
  mode: "fields",
  at: "2026-11-15T10:00:00.000Z",
};

describe("an unsaved draft", () => {
  it("is restored for the same task of the same project", () => {
    const shelf = store();
    saveTaskDraft(shelf, taskDraftKey(null, "a"), written);
    expect(loadTaskDraft(shelf, taskDraftKey(null, "a"))).toEqual(written);
    expect(loadTaskDraft(shelf, taskDraftKey(null, null))).toBeNull();
    expect(loadTaskDraft(shelf, taskDraftKey("p", "a"))).toBeNull();
  });

  it("is gone after it was deleted", () => {
    const shelf = store();
    saveTaskDraft(shelf, "x", written);
    removeTaskDraft(shelf, "x");
    expect(loadTaskDraft(shelf, "x")).toBeNull();
  });

  it("is null if it is invalid or can't be stored", () => {
    const shelf = store();
    for (const text of [
      "{",
      "[]",
      '{"draft": {}}',
      JSON.stringify({ ...written, draft: { ...EMPTY_TASK, needs: [1] } }),
    ]) {
      shelf.setItem("x", text);
      expect(loadTaskDraft(shelf, "x"), text).toBeNull();
    }
    const full = store(true);
    saveTaskDraft(full, "x", written);
    expect(loadTaskDraft(full, "x")).toBeNull();
  });
});
