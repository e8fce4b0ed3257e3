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

it("has registered commands until they are unregistered", () => {
  register("board", [command("select", "Select")]);
  expect(titles()).toEqual(["Select"]);
  unregister("board");
  expect(titles()).toEqual([]);
});

it("of two with the same id uses the later one, then the earlier one again", () => {
  register("board", [command("close", "Clear selection")]);
  register("panel", [command("close", "Close task")]);
  expect(titles()).toEqual(["Close task"]);
  unregister("panel");
  expect(titles()).toEqual(["Clear selection"]);
});

it("lists the later one at its own position", () => {
  register("board", [command("close", "Clear selection")]);
  register("strip", [command("pause", "Pause")]);
  register("panel", [command("close", "Close task")]);
  expect(titles()).toEqual(["Pause", "Close task"]);
});

it("keeps the position of a command that is registered again", () => {
  register("board", [command("theme", "Dark")]);
  register("panel", [command("close", "Close")]);
  register("board", [command("theme", "Light")]);
  expect(titles()).toEqual(["Light", "Close"]);
});
