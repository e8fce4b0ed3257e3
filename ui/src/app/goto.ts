import { useLocation } from "wouter";
import { useCommands } from "../commands/commands";
import { routes } from "./address";
import { isDark, setTheme, useTheme } from "./theme";

/** Where one can go from everywhere. */
export function useNavigationCommands(): void {
  const [, navigate] = useLocation();
  const dark = useTheme(({ theme }) => isDark(theme));
  useCommands([
    { id: "go-board", title: "Board", group: "Go to", keys: ["g b"], run: () => navigate(routes.board()) },
    {
      id: "go-batches",
      title: "Batches",
      group: "Go to",
      keys: ["g h"],
      run: () => navigate(routes.batches()),
    },
    {
      id: "go-settings",
      title: "Settings",
      group: "Go to",
      keys: ["g s"],
      run: () => navigate(routes.settings()),
    },
    {
      id: "theme",
      title: dark ? "Use the light theme" : "Use the dark theme",
      group: "Page",
      run: () => setTheme(dark ? "light" : "dark"),
    },
  ]);
}
