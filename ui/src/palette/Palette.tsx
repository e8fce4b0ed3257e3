import { lazy, Suspense, useEffect, useState } from "react";
import { useCommands } from "../commands/commands";
import { ErrorBoundary } from "../components/ErrorBoundary";

const loadFinder = () => import("./Finder");
const loadHelp = () => import("./ShortcutHelp");
const Finder = lazy(loadFinder);
const ShortcutHelp = lazy(loadHelp);
const PRELOAD_MS = 1500; // ms: preloaded after the board, so that they open at once, even without the server

/** The command palette and the shortcut help, opened by a key from anywhere except other dialogs. */
export function Palette() {
  const [open, setOpen] = useState<"palette" | "help" | null>(null);
  const close = () => setOpen(null);
  const show = (which: "palette" | "help") =>
    setOpen((now) =>
      now === which ? null : document.querySelector("dialog:modal") && now === null ? now : which,
    );
  useEffect(() => {
    const timer = window.setTimeout(
      () => void Promise.all([loadFinder(), loadHelp()]).catch(() => undefined),
      PRELOAD_MS,
    );
    return () => window.clearTimeout(timer);
  }, []);
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
      <Suspense fallback={null}>
        {open === "palette" ? <Finder onClose={close} /> : <ShortcutHelp onClose={close} />}
      </Suspense>
    </ErrorBoundary>
  );
}
