/* The title and the icon of the window say how far the batches are: they are what is seen of a window that is not. */

import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";
import { useSearchParams } from "wouter";
import { useShallow } from "zustand/react/shallow";
import { api, told } from "../api/client";
import { headingOf, iconOf, titleOf } from "../model/heading";
import { useBoard } from "../store/board";
import { useNotices } from "./notices";

const PLAIN = "/favicon.svg";

export function useHeading(): void {
  useNotices();
  const name = useProjectName();
  const heading = useBoard(useShallow((store) => headingOf(store.board)));
  const title = titleOf(heading, name);
  const icon = iconOf(heading) ?? PLAIN;
  useEffect(() => {
    document.title = title;
  }, [title]);
  useEffect(() => {
    document.querySelector("link[rel=icon]")?.setAttribute("href", icon);
  }, [icon]);
}

function useProjectName(): string {
  const [search] = useSearchParams();
  const meant = search.get("project");
  const { data } = useProjects();
  return data?.projects.find(({ id, default: own }) => (meant === null ? own : id === meant))?.name ?? "";
}

export function useProjects() {
  return useQuery({
    queryKey: ["projects", "named"],
    queryFn: () => told(api.GET("/api/projects")),
    staleTime: 60_000,
  });
}
