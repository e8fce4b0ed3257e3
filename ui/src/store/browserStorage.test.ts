import { describe, expect, it } from "vitest";
import { loadItem, loadList, saveItem } from "./browserStorage";

function throwRefused(): never {
  throw new DOMException("The quota is used up", "QuotaExceededError");
}

describe("browser storage", () => {
  it("falls back to memory if the browser refuses", () => {
    const none = { getItem: throwRefused, setItem: throwRefused };
    expect(() => saveItem("plait.theme", "dark", none)).not.toThrow();
    expect(loadItem("plait.theme", none)).toBeNull();
    expect(loadList("plait.watched", none)).toEqual([]);
  });

  it("ignores a stored value that is no list", () => {
    const holding = (text: string) => ({ getItem: () => text, setItem: throwRefused });
    expect(loadList("plait.watched", holding('["7f3a", 3, null]'))).toEqual(["7f3a"]);
    expect(loadList("plait.watched", holding("{"))).toEqual([]);
    expect(loadList("plait.watched", holding('{"a": 1}'))).toEqual([]);
  });
});
