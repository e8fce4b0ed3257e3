import { beforeEach, describe, expect, it } from "vitest";
import { EMPTY_BOARD } from "../model/board";
import { sampleTask } from "../model/testData";
import { useBoard } from "./board";
import { clearSelection, selectRange, toggleAll, toggleSelected, useSelection } from "./selection";

const chosen = () => [...useSelection.getState().selected].sort();
const sources = (...ids: string[]) => new Map(ids.map((id) => [id, sampleTask(id)]));

describe("the selection", () => {
  beforeEach(clearSelection);

  it("takes a task, and puts it back", () => {
    toggleSelected("a");
    toggleSelected("b");
    toggleSelected("a");
    expect(chosen()).toEqual(["b"]);
  });

  it("goes from what was chosen last up to another, in either direction", () => {
    toggleSelected("c");
    selectRange("a", ["a", "b", "c", "d"]);
    expect(chosen()).toEqual(["a", "b", "c"]);
    selectRange("d", ["a", "b", "c", "d"]);
    expect(chosen()).toEqual(["a", "b", "c", "d"]);
  });

  it("takes only that one where the range would begin elsewhere", () => {
    toggleSelected("elsewhere");
    selectRange("b", ["a", "b"]);
    expect(chosen()).toEqual(["b", "elsewhere"]);
  });

  it("takes all, and none when all are taken", () => {
    toggleSelected("a");
    toggleAll(["a", "b"]);
    expect(chosen()).toEqual(["a", "b"]);
    toggleAll(["a", "b"]);
    expect(chosen()).toEqual([]);
  });

  it("loses what no source has any more, at the next reading, and nothing else", () => {
    useBoard.setState({ board: { ...EMPTY_BOARD, tasks: sources("a", "b") }, loaded: true });
    toggleAll(["a", "b"]);
    useBoard.setState({ board: { ...EMPTY_BOARD, tasks: sources("b", "c") } });
    expect(chosen()).toEqual(["b"]);
  });

  it("outlives a reading that has not come yet", () => {
    useBoard.setState({ board: { ...EMPTY_BOARD, tasks: sources("a") }, loaded: true });
    toggleSelected("a");
    useBoard.setState({ board: EMPTY_BOARD, loaded: false });
    expect(chosen()).toEqual(["a"]);
  });
});
