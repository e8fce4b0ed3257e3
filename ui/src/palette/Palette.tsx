import { useState } from "react";
import { useCommands } from "../commands/commands";
import { ErrorBoundary } from "../components/ErrorBoundary";
import { Finder } from "./Finder";
import { ShortcutHelp } from "./ShortcutHelp";

/** The command palette and the shortcut help, opened by a key from anywhere except other dialogs. */
export function Palette() {
  const [open, setOpen] = useState<"palette" | "help" | null>(null);
  const close = () => setOpen(null);
  const show = (which: "palette" | "help") =>
    setOpen((now) =>
      now === which ? null : document.querySelector("dialog:modal") && now === null ? now : which,
    );
  useCommands([
    {
      id: "palette",
      title: "Find anything",
      group: "Page",
      keys: ["Mod+K"],
      typing: true,
      hidden: true,
      run: () => show("palette"),
    },
    { id: "help", title: "Keyboard shortcuts", group: "Page", keys: ["?"], run: () => show("help") },
  ]);
  if (open === null) return null;
  return (
    <ErrorBoundary>
      {open === "palette" ? <Finder onClose={close} /> : <ShortcutHelp onClose={close} />}
    </ErrorBoundary>
  );
}
