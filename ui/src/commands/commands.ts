/* The command registry for shortcuts and the palette. A view registers its commands while it is mounted. */

import { useEffect, useId, useRef } from "react";
import { create } from "zustand";

export interface Command {
  readonly id: string;
  readonly title: string;
  /** For the help sheet and the palette: "Board", "Selection", "Go to", "Task", "Batch". */
  readonly group: string;
  /** As "x", "Shift+X", "Mod+K", "g b" (one after the other), "?", "Escape", "ArrowDown"; several are alternatives. */
  readonly keys?: readonly string[];
  /** Why it isn't possible now, as a sentence. */
  readonly disabled?: string | null;
  /** Not offered by the palette: arrows and the like. */
  readonly hidden?: boolean;
  /** Also active in text fields and dialogs. */
  readonly typing?: boolean;
  run(): void;
}

interface Registry {
  /** By the component that registered them, in that order. */
  readonly owners: ReadonlyMap<string, readonly Command[]>;
  readonly commands: ReadonlyMap<string, Command>;
}

export const useCommandRegistry = create<Registry>(() => ({ owners: new Map(), commands: new Map() }));

/** Registers commands while the component is mounted. Of two with the same id, the later one counts. */
export function useCommands(commands: readonly Command[]): void {
  const owner = useId();
  const latest = useRef(commands);
  latest.current = commands;
  const description = JSON.stringify(commands.map(({ run: _, ...rest }) => rest));
  // biome-ignore lint/correctness/useExhaustiveDependencies: the commands' content matters, not their identity
  useEffect(() => {
    const now = (id: string) => latest.current.find((command) => command.id === id);
    register(
      owner,
      latest.current.map((command) => ({ ...command, run: () => now(command.id)?.run() })),
    );
  }, [owner, description]);
  useEffect(() => () => unregister(owner), [owner]);
}

/** Commands that are registered again keep their position. */
export function register(owner: string, commands: readonly Command[]): void {
  useCommandRegistry.setState(({ owners }) => indexCommands(new Map(owners).set(owner, commands)));
}

export function unregister(owner: string): void {
  useCommandRegistry.setState(({ owners }) => {
    const next = new Map(owners);
    next.delete(owner);
    return indexCommands(next);
  });
}

function indexCommands(owners: Registry["owners"]): Registry {
  const commands = new Map<string, Command>();
  for (const command of [...owners.values()].flat()) {
    commands.delete(command.id);
    commands.set(command.id, command);
  }
  return { owners, commands };
}
