/* Shows the progress of open batches in the window's title and icon. */

import { useEffect } from "react";
import { useSearchParams } from "wouter";
import { useShallow } from "zustand/react/shallow";
import { useProjects } from "../api/queries";
import { windowIcon, windowStatus, windowTitle } from "../model/windowTitle";
import { useBoard } from "../store/board";
import { useDesktopNotifications } from "./desktopNotifications";

const DEFAULT_ICON = "/favicon.svg";

export function useWindowTitle(): void {
  useDesktopNotifications();
  const name = useProjectName();
  const status = useBoard(useShallow((store) => windowStatus(store.board)));
  const title = windowTitle(status, name);
  const icon = windowIcon(status) ?? DEFAULT_ICON;
  useEffect(() => {
    document.title = title;
  }, [title]);
  useEffect(() => {
    document.querySelector("link[rel=icon]")?.setAttribute("href", icon);
  }, [icon]);
}

function useProjectName(): string {
  const [search] = useSearchParams();
  const current = search.get("project");
  const { data } = useProjects();
  return data?.find(({ id, default: own }) => (current === null ? own : id === current))?.name ?? "";
}
