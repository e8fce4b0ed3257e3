/* Maps key presses to commands. Pure, except for the hook. */

import { useEffect } from "react";
import { showToast } from "../components/Toasts";
import { type Command, useCommandRegistry } from "./commands";

const CHORD_MS = 1200; // ms within which the second key of "g b" must come

export type KeyPress = Pick<
  KeyboardEvent,
  "key" | "code" | "metaKey" | "ctrlKey" | "altKey" | "shiftKey" | "getModifierState"
>;

const MAC = typeof navigator !== "undefined" && navigator.platform.startsWith("Mac");
const IGNORED_KEYS = new Set([
  "Shift",
  "Control",
  "Alt",
  "Meta",
  "AltGraph",
  "CapsLock",
  "Dead",
  "Process",
  "Fn",
]);
const REPEATABLE_KEYS = new Set(["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "j", "k", "h", "l"]);

/**
 * The key as commands spell it: "Mod+K", "Shift+X", "x", "?"; "" for a modifier alone. The printed character
 * counts, not the position, so that shortcuts work on every layout; on layouts without Latin letters the
 * position does. Mod is ⌘ on a Mac, where Control keeps its own meaning.
 */
export function keyName(event: KeyPress, mac = MAC): string {
  const key = latinKey(event);
  if (key === undefined || IGNORED_KEYS.has(key)) return "";
  const graph = event.getModifierState("AltGraph"); // makes the character, as Shift does
  const [mod, other] = mac ? [event.metaKey, event.ctrlKey] : [event.ctrlKey && !graph, event.metaKey];
  const alt = event.altKey && !graph ? "Alt+" : "";
  const letter = /^[a-z]$/i.test(key);
  const shift = event.shiftKey && (letter || key.length > 1) ? "Shift+" : "";
  const upper = mod || shift !== "";
  const name = letter ? (upper ? key.toUpperCase() : key.toLowerCase()) : key === " " ? "Space" : key;
  return `${mod ? "Mod+" : ""}${other ? (mac ? "Ctrl+" : "Meta+") : ""}${alt}${shift}${name}`;
}

function latinKey({ key, code }: KeyPress): string | undefined {
  const place = /^Key([A-Z])$/.exec(code ?? "")?.[1];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII is meant
  return place !== undefined && key?.length === 1 && !/^[\x00-\x7f]$/.test(key) ? place.toLowerCase() : key;
}

/**
 * The command for this key; `before` was pressed just before. Of several, an enabled one comes first, then
 * the one registered last.
 */
export function findCommand(
  commands: Iterable<Command>,
  before: string,
  now: string,
  typing: boolean,
): Command | undefined {
  const open = [...commands].reverse().filter((command) => !typing || command.typing);
  const of = (keys: string) => {
    const found = open.filter((command) => command.keys?.includes(keys));
    return found.find((command) => !command.disabled) ?? found[0];
  };
  return (before === "" ? undefined : of(`${before} ${now}`)) ?? of(now);
}

const FIELD = "input:not([type=checkbox], [type=radio])";
const ITEMS = "[role=tab], [role=option], [role=menuitem]";
const CLICKABLE = `button, a[href], summary, select, ${FIELD}, [role=button], ${ITEMS}`;
const ARROW_CONTROLS = `${FIELD}, [type=radio], select, [role=slider], [role=listbox], ${ITEMS}`;

/** Whether the focused element handles this key itself. */
function isHandledByTarget(target: EventTarget | null, keys: string): boolean {
  if (!(target instanceof Element)) return false;
  if (keys === "Enter") return target.closest(CLICKABLE) !== null;
  if (keys === "Space") return target.closest(`${CLICKABLE}, input`) !== null;
  return /^(Arrow|Home|End|Page)/.test(keys) && target.closest(ARROW_CONTROLS) !== null;
}

/** Whether the user is typing in a field, where plain keys are text. */
function isTyping(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.isContentEditable) return true;
  if (target instanceof HTMLTextAreaElement || target instanceof HTMLSelectElement) return true;
  return (
    target instanceof HTMLInputElement && !["checkbox", "radio", "button", "range"].includes(target.type)
  );
}

/** Once, at the top of the page. */
export function useKeyboardShortcuts(): void {
  useEffect(() => {
    let before = "";
    let at = 0;
    const onKeyDown = (event: KeyboardEvent) => {
      const now = keyName(event);
      if (event.defaultPrevented || event.isComposing || now === "" || isHandledByTarget(event.target, now))
        return;
      const typing = isTyping(event.target) || document.querySelector("dialog:modal") !== null;
      const chord = event.timeStamp - at < CHORD_MS ? before : "";
      const command = findCommand(useCommandRegistry.getState().commands.values(), chord, now, typing);
      before = command || typing ? "" : now;
      at = event.timeStamp;
      if (command === undefined) return;
      event.preventDefault();
      if (event.repeat && !REPEATABLE_KEYS.has(now)) return;
      if (command.disabled) showToast(command.disabled);
      else command.run();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, []);
}
