import { describe, expect, it } from "vitest";
import { recall, recallList, remember } from "./browser";

function refusing(): never {
  throw new DOMException("The quota is used up", "QuotaExceededError");
}

describe("a browser that keeps nothing", () => {
  it("costs nothing but that it is kept", () => {
    const none = { getItem: refusing, setItem: refusing };
    expect(() => remember("plait.theme", "dark", none)).not.toThrow();
    expect(recall("plait.theme", none)).toBeNull();
    expect(recallList("plait.watched", none)).toEqual([]);
  });

  it("does not matter where what it kept is no list of words", () => {
    const holding = (text: string) => ({ getItem: () => text, setItem: refusing });
    expect(recallList("plait.watched", holding('["7f3a", 3, null]'))).toEqual(["7f3a"]);
    expect(recallList("plait.watched", holding("{"))).toEqual([]);
    expect(recallList("plait.watched", holding('{"a": 1}'))).toEqual([]);
  });
});
