/* Everything that can be found and done from everywhere. */

import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { useLocation } from "wouter";
import { api, told } from "../api/client";
import { to, useOpenTask, within } from "../app/address";
import { useProjects } from "../app/heading";
import { type Command, useCommandRegistry } from "../commands/commands";
import type { Board } from "../model/board";
import { COLUMN_NAMES, columnOf } from "../model/columns";
import { count, short } from "../model/format";
import { word } from "../parts/Status";
import { useBoard } from "../store/board";
import type { Findable } from "./match";

export interface Item extends Findable {
  /** Under which heading it stands: "Tasks", "Batches", "Settings", "Projects", or the group of a command. */
  readonly group: string;
  readonly note: string;
  readonly keys?: string | undefined;
  run(): void;
}

export function useItems(): readonly Item[] {
  const [, navigate] = useLocation();
  const [, openTask] = useOpenTask();
  const commands = useCommandRegistry((store) => store.commands);
  const board = useBoard((store) => store.board);
  const { data: projects } = useProjects();
  const { data: schema } = useQuery({
    queryKey: ["settings", "schema"],
    queryFn: () => told(api.GET("/api/settings/schema")),
    staleTime: Number.POSITIVE_INFINITY,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: ways to go somewhere do the same whichever they are
  return useMemo(
    () => [
      ...ofCommands(commands.values()),
      ...ofTasks(board, (task) => openTask({ task })),
      ...ofBatches(board, (id) => navigate(to.review(id))),
      ...(schema?.settings ?? []).map(({ key, name, about }) => ({
        key: `setting ${name}`,
        group: "Settings",
        title: key,
        words: `${name} ${about}`,
        note: "",
        run: () => navigate(within("/settings", { find: key })),
      })),
      ...(projects?.projects ?? []).map(({ id, name, path, default: own }) => ({
        key: `project ${id}`,
        group: "Projects",
        title: name,
        words: path,
        note: path,
        run: () => navigate(own ? "/" : `/?project=${encodeURIComponent(id)}`),
      })),
    ],
    [commands, board.tasks, board.batches, schema, projects],
  );
}

function ofCommands(commands: Iterable<Command>): Item[] {
  return [...commands]
    .filter(({ hidden }) => !hidden)
    .map(({ id, title, group, keys, disabled, run }) => ({
      key: `command ${id}`,
      group,
      title,
      words: group,
      note: "",
      keys: keys?.[0],
      disabled,
      run,
    }));
}

function ofTasks({ tasks }: Board, open: (id: string) => void): Item[] {
  return [...tasks.values()].map((task) => ({
    key: `task ${task.id}`,
    group: "Tasks",
    title: task.title === task.id ? task.id : `${task.id} ${task.title}`,
    note: COLUMN_NAMES[columnOf(task)],
    run: () => open(task.id),
  }));
}

function ofBatches({ batches }: Board, open: (id: string) => void): Item[] {
  return [...batches.values()].map(({ id, status, progress }) => ({
    key: `batch ${id}`,
    group: "Batches",
    title: `Batch ${short(id)}`,
    words: id,
    note: `${word(status)}, ${count(progress.total, "task")}`,
    run: () => open(id),
  }));
}
