/* Light, dark, or as the system has it. In this browser, and in all its windows. */

import { create } from "zustand";
import { recall, remember } from "../store/browser";

export type Theme = "system" | "light" | "dark";
const KEY = "plait.theme";

function kept(): Theme {
  const said = recall(KEY);
  return said === "light" || said === "dark" ? said : "system";
}

export const useTheme = create<{ theme: Theme }>(() => ({ theme: kept() }));

export function setTheme(theme: Theme): void {
  remember(KEY, theme);
  show(theme);
}

/** Once, before anything is drawn. */
export function applyTheme(): void {
  show(kept());
  window.addEventListener("storage", ({ key }) => key === KEY && show(kept()));
}

/** What is seen now, whoever has said so. */
export function isDark(theme: Theme): boolean {
  return (
    theme === "dark" || (theme === "system" && window.matchMedia("(prefers-color-scheme: dark)").matches)
  );
}

function show(theme: Theme): void {
  useTheme.setState({ theme });
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}
