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
  register("board", [command("close", "Clear the selection")]);
  register("panel", [command("close", "Close the task")]);
  expect(titles()).toEqual(["Close the task"]);
  unregister("panel");
  expect(titles()).toEqual(["Clear the selection"]);
});

it("has the later one at its own place, since of two with one key the last counts", () => {
  register("board", [command("close", "Clear the selection")]);
  register("strip", [command("pause", "Pause")]);
  register("panel", [command("close", "Close the task")]);
  expect(titles()).toEqual(["Pause", "Close the task"]);
});

it("leaves one that is said anew where it was among the others", () => {
  register("board", [command("theme", "Dark")]);
  register("panel", [command("close", "Close")]);
  register("board", [command("theme", "Light")]);
  expect(titles()).toEqual(["Light", "Close"]);
});
