import { afterEach, expect, it } from "vitest";
import { type Command, register, unregister, useCommandRegistry } from "./commands";

const command = (id: string, title: string): Command => ({
  id,
  title,
  group: "Page",
  run: () => undefined,
});
const titles = () => [...useCommandRegistry.getState().commands.values()].map(({ title }) => title);

afterEach(() => {
  for (const owner of useCommandRegistry.getState().owners.keys()) unregister(owner);
});

it("has what is registered, as long as it is", () => {
  register("board", [command("select", "Select")]);
  expect(titles()).toEqual(["Select"]);
  unregister("board");
  expect(titles()).toEqual([]);
});

it("of two with one id has the later one, and then the earlier one again", () => {
  register("board", [command("close", "Clear selection")]);
  register("panel", [command("close", "Close task")]);
  expect(titles()).toEqual(["Close task"]);
  unregister("panel");
  expect(titles()).toEqual(["Clear selection"]);
});

it("has the later one at its own place, since of two with one key the last counts", () => {
  register("board", [command("close", "Clear selection")]);
  register("strip", [command("pause", "Pause")]);
  register("panel", [command("close", "Close task")]);
  expect(titles()).toEqual(["Pause", "Close task"]);
});

it("leaves one that is said anew where it was among the others", () => {
  register("board", [command("theme", "Dark")]);
  register("panel", [command("close", "Close")]);
  register("board", [command("theme", "Light")]);
  expect(titles()).toEqual(["Light", "Close"]);
});
