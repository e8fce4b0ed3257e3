import { describe, expect, it } from "vitest";
import { loadDraft, saveDraft } from "./drafts";

class Kept {
  readonly all = new Map<string, string>();
  get length() {
    return this.all.size;
  }
  key(n: number): string | null {
    return [...this.all.keys()][n] ?? null;
  }
  getItem(name: string): string | null {
    return this.all.get(name) ?? null;
  }
  setItem(name: string, text: string): void {
    this.all.set(name, text);
  }
  removeItem(name: string): void {
    this.all.delete(name);
  }
}

describe("a draft", () => {
  it("is stored until it is deleted", () => {
    const store = new Kept();
    saveDraft("plait.pr 1", { title: "Roof" }, store);
    expect(loadDraft("plait.pr 1", store)).toEqual({ title: "Roof" });
    saveDraft("plait.pr 1", null, store);
    expect([loadDraft("plait.pr 1", store), store.length]).toEqual([null, 0]);
  });

  it("evicts the oldest draft of its kind", () => {
    const store = new Kept();
    store.setItem("plait.theme", "dark");
    saveDraft("plait.pr oldest", "pr", store, 0);
    for (let n = 1; n <= 60; n += 1) saveDraft(`plait.comments ${n}`, n, store, n === 20 ? 100 : n);
    expect(loadDraft("plait.comments 10", store)).toBe(null);
    expect([11, 20, 60].map((n) => loadDraft(`plait.comments ${n}`, store))).toEqual([11, 20, 60]);
    expect([store.length, loadDraft("plait.pr oldest", store), store.getItem("plait.theme")]).toEqual([
      52,
      "pr",
      "dark",
    ]);
  });

  it("is null if the stored value is invalid or storage is refused", () => {
    const store = new Kept();
    store.setItem("plait.pr 1", "{");
    expect(loadDraft("plait.pr 1", store)).toBe(null);
    store.setItem = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
    expect(() => saveDraft("plait.pr 2", "words", store)).not.toThrow();
  });
});
