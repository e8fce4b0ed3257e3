import { describe, expect, it } from "vitest";
import type { Command } from "./commands";
import { findCommand, type KeyPress, keyName } from "./shortcuts";

function key(
  name: string,
  held: Partial<Record<"meta" | "ctrl" | "alt" | "shift", true>> = {},
  more = {},
): KeyPress {
  return {
    key: name,
    code: "",
    metaKey: held.meta ?? false,
    ctrlKey: held.ctrl ?? false,
    altKey: held.alt ?? false,
    shiftKey: held.shift ?? false,
    getModifierState: () => false,
    ...more,
  };
}

function command(id: string, keys: string[], more: Partial<Command> = {}): Command {
  return { id, title: id, group: "Page", keys, run: () => undefined, ...more };
}

describe("a key's name", () => {
  it("is as in commands", () => {
    expect(keyName(key("x"), false)).toBe("x");
    expect(keyName(key("X", { shift: true }), false)).toBe("Shift+X");
    expect(keyName(key("k", { ctrl: true }), false)).toBe("Mod+K");
    expect(keyName(key("Enter", { ctrl: true }), false)).toBe("Mod+Enter");
    expect(keyName(key(" "), false)).toBe("Space");
    expect(keyName(key("ArrowDown", { shift: true }), false)).toBe("Shift+ArrowDown");
  });

  it("is the printed character, without Shift if that produced it", () => {
    expect(keyName(key("?", { shift: true }), false)).toBe("?");
    expect(keyName(key("X"), false)).toBe("x"); // caps lock
  });

  it("uses the system's own modifier as Mod", () => {
    expect(keyName(key("k", { meta: true }), true)).toBe("Mod+K");
    expect(keyName(key("k", { ctrl: true }), true)).not.toBe("Mod+K"); // on a Mac: cut to the end of the line
    expect(keyName(key("k", { meta: true }), false)).not.toBe("Mod+K");
  });

  it("ignores AltGr, which produces characters like Shift", () => {
    const held = { getModifierState: (name: string) => name === "AltGraph" };
    expect(keyName(key("[", { ctrl: true, alt: true }, held), false)).toBe("[");
  });

  it("uses the position on layouts without Latin letters", () => {
    expect(keyName(key("л", { ctrl: true }, { code: "KeyK" }), false)).toBe("Mod+K");
    expect(keyName(key("ч", {}, { code: "KeyX" }), false)).toBe("x");
    expect(keyName(key("y", {}, { code: "KeyZ" }), false)).toBe("y"); // a German layout: what is printed counts
  });

  it("is empty for modifiers and unnamed keys", () => {
    expect(keyName(key("Shift", { shift: true }), false)).toBe("");
    expect(keyName({ ...key("x"), key: undefined as unknown as string }, false)).toBe("");
  });
});

describe("the command for a key", () => {
  const board = command("go-board", ["g b"]);
  const plain = command("plain", ["b"]);

  it("prefers a chord to its second key", () => {
    expect(findCommand([board, plain], "g", "b", false)).toBe(board);
    expect(findCommand([board, plain], "", "b", false)).toBe(plain);
    expect(findCommand([board], "x", "b", false)).toBeUndefined();
  });

  it("is the one registered last", () => {
    const later = command("later", ["b"]);
    expect(findCommand([plain, later], "", "b", false)).toBe(later);
  });

  it("prefers an enabled command", () => {
    const off = command("off", ["b"], { disabled: "Nothing is selected." });
    expect(findCommand([plain, off], "", "b", false)).toBe(plain);
    expect(findCommand([off], "", "b", false)).toBe(off);
  });

  it("is none in text fields, unless it is allowed there", () => {
    const palette = command("palette", ["Mod+K"], { typing: true });
    expect(findCommand([plain, palette], "", "b", true)).toBeUndefined();
    expect(findCommand([plain, palette], "", "Mod+K", true)).toBe(palette);
  });

  it("is none for unregistered browser keys", () => {
    expect(findCommand([board, plain], "", "Mod+B", false)).toBeUndefined();
    expect(findCommand([board, plain], "", "Alt+b", false)).toBeUndefined();
  });
});
