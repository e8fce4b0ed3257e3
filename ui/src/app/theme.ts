/* Light, dark or system theme, shared by all windows of this browser. */

import { create } from "zustand";
import { useMediaQuery } from "../components/hooks";
import { loadItem, saveItem } from "../store/browserStorage";

export type Theme = "system" | "light" | "dark";
const KEY = "plait.theme";

function readTheme(): Theme {
  const stored = loadItem(KEY);
  return stored === "light" || stored === "dark" ? stored : "system";
}

export const useTheme = create<{ theme: Theme }>(() => ({ theme: readTheme() }));

export function setTheme(theme: Theme): void {
  saveItem(KEY, theme);
  activateTheme(theme);
}

/** Once, before anything is drawn. */
export function initTheme(): void {
  activateTheme(readTheme());
  window.addEventListener("storage", ({ key }) => key === KEY && activateTheme(readTheme()));
}

/** Whether the page is dark now. */
export function useIsDark(): boolean {
  const theme = useTheme((store) => store.theme);
  const isSystemDark = useMediaQuery("(prefers-color-scheme: dark)");
  return theme === "system" ? isSystemDark : theme === "dark";
}

function activateTheme(theme: Theme): void {
  useTheme.setState({ theme });
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
