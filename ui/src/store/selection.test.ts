import { beforeEach, describe, expect, it } from "vitest";
import { EMPTY_BOARD } from "../model/board";
import { sampleTask } from "../model/testData";
import { useBoard } from "./board";
import { clearSelection, selectRange, toggleAll, toggleSelected, useSelection } from "./selection";

const selectedIds = () => [...useSelection.getState().selected].sort();
const sources = (...ids: string[]) => new Map(ids.map((id) => [id, sampleTask(id)]));

describe("the selection", () => {
  beforeEach(clearSelection);

  it("toggles a task", () => {
    toggleSelected("a");
    toggleSelected("b");
    toggleSelected("a");
    expect(selectedIds()).toEqual(["b"]);
  });

  it("selects a range from the anchor in either direction", () => {
    toggleSelected("c");
    selectRange("a", ["a", "b", "c", "d"]);
    expect(selectedIds()).toEqual(["a", "b", "c"]);
    selectRange("d", ["a", "b", "c", "d"]);
    expect(selectedIds()).toEqual(["a", "b", "c", "d"]);
  });

  it("selects only that task if the anchor isn't displayed", () => {
    toggleSelected("elsewhere");
    selectRange("b", ["a", "b"]);
    expect(selectedIds()).toEqual(["b", "elsewhere"]);
  });

  it("selects all, or none if all are selected", () => {
    toggleSelected("a");
    toggleAll(["a", "b"]);
    expect(selectedIds()).toEqual(["a", "b"]);
    toggleAll(["a", "b"]);
    expect(selectedIds()).toEqual([]);
  });

  it("drops tasks that left their source at the next fetch", () => {
    useBoard.setState({ board: { ...EMPTY_BOARD, tasks: sources("a", "b") }, loaded: true });
    toggleAll(["a", "b"]);
    useBoard.setState({ board: { ...EMPTY_BOARD, tasks: sources("b", "c") } });
    expect(selectedIds()).toEqual(["b"]);
  });

  it("survives until the next fetch", () => {
    useBoard.setState({ board: { ...EMPTY_BOARD, tasks: sources("a") }, loaded: true });
    toggleSelected("a");
    useBoard.setState({ board: EMPTY_BOARD, loaded: false });
    expect(selectedIds()).toEqual(["a"]);
  });
});
