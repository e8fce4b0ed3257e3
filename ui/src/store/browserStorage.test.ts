import { describe, expect, it } from "vitest";
import { loadItem, loadList, saveItem } from "./browserStorage";

function refusing(): never {
  throw new DOMException("The quota is used up", "QuotaExceededError");
}

describe("a browser that keeps nothing", () => {
  it("costs nothing but that it is kept", () => {
    const none = { getItem: refusing, setItem: refusing };
    expect(() => saveItem("plait.theme", "dark", none)).not.toThrow();
    expect(loadItem("plait.theme", none)).toBeNull();
    expect(loadList("plait.watched", none)).toEqual([]);
  });

  it("does not matter where what it kept is no list of words", () => {
    const holding = (text: string) => ({ getItem: () => text, setItem: refusing });
    expect(loadList("plait.watched", holding('["7f3a", 3, null]'))).toEqual(["7f3a"]);
    expect(loadList("plait.watched", holding("{"))).toEqual([]);
    expect(loadList("plait.watched", holding('{"a": 1}'))).toEqual([]);
  });
});
