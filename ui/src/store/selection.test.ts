import { beforeEach, describe, expect, it } from "vitest";
import { NOTHING } from "../model/board";
import { task } from "../model/samples";
import { useBoard } from "./board";
import { chooseAll, choosePast, clear, toggle, useSelection } from "./selection";

const chosen = () => [...useSelection.getState().chosen].sort();
const sources = (...ids: string[]) => new Map(ids.map((id) => [id, task(id)]));

describe("the selection", () => {
  beforeEach(clear);

  it("takes a task, and puts it back", () => {
    toggle("a");
    toggle("b");
    toggle("a");
    expect(chosen()).toEqual(["b"]);
  });

  it("goes from what was chosen last up to another, in either direction", () => {
    toggle("c");
    choosePast("a", ["a", "b", "c", "d"]);
    expect(chosen()).toEqual(["a", "b", "c"]);
    choosePast("d", ["a", "b", "c", "d"]);
    expect(chosen()).toEqual(["a", "b", "c", "d"]);
  });

  it("takes only that one where the range would begin elsewhere", () => {
    toggle("elsewhere");
    choosePast("b", ["a", "b"]);
    expect(chosen()).toEqual(["b", "elsewhere"]);
  });

  it("takes all, and none when all are taken", () => {
    toggle("a");
    chooseAll(["a", "b"]);
    expect(chosen()).toEqual(["a", "b"]);
    chooseAll(["a", "b"]);
    expect(chosen()).toEqual([]);
  });

  it("loses what no source has any more, at the next reading, and nothing else", () => {
    useBoard.setState({ board: { ...NOTHING, tasks: sources("a", "b") }, loaded: true });
    chooseAll(["a", "b"]);
    useBoard.setState({ board: { ...NOTHING, tasks: sources("b", "c") } });
    expect(chosen()).toEqual(["b"]);
  });

  it("outlives a reading that has not come yet", () => {
    useBoard.setState({ board: { ...NOTHING, tasks: sources("a") }, loaded: true });
    toggle("a");
    useBoard.setState({ board: NOTHING, loaded: false });
    expect(chosen()).toEqual(["a"]);
  });
});
