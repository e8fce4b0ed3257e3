/* Everything the palette can find: commands, tasks, batches, settings and projects. */

import { useMemo } from "react";
import { useLocation } from "wouter";
import { useProjects, useSettingSchema } from "../api/queries";
import { projectUrl, routes, useOpenTask } from "../app/routes";
import { type Command, useCommandRegistry } from "../commands/commands";
import { statusText } from "../components/Status";
import type { Board } from "../model/board";
import { COLUMN_NAMES, columnOf } from "../model/columns";
import { pluralize, shortId, spellOutBidi } from "../model/format";
import { useBoard } from "../store/board";
import type { Findable } from "./match";

export interface Item extends Findable {
  /** Its heading: "Tasks", "Batches", "Settings", "Projects", or the group of a command. */
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
  const { data: schema } = useSettingSchema();
  // biome-ignore lint/correctness/useExhaustiveDependencies: navigation functions are interchangeable
  return useMemo(
    () => [
      ...commandItems(commands.values()),
      ...taskItems(board, (task) => openTask({ task })),
      ...batchItems(board, (id) => navigate(routes.review(id))),
      ...(schema?.settings ?? []).map(({ key, name, about }) => ({
        key: `setting ${name}`,
        group: "Settings",
        title: key,
        keywords: `${name} ${about}`,
        note: "",
        run: () => navigate(projectUrl("/settings", { find: key })),
      })),
      ...(projects ?? []).map(({ id, name, path, default: own }) => ({
        key: `project ${id}`,
        group: "Projects",
        title: name,
        keywords: path,
        note: path,
        run: () => navigate(own ? "/" : `/?project=${encodeURIComponent(id)}`),
      })),
    ],
    [commands, board.tasks, board.batches, schema, projects],
  );
}

function commandItems(commands: Iterable<Command>): Item[] {
  return [...commands]
    .filter(({ hidden }) => !hidden)
    .map(({ id, title, group, keys, disabled, run }) => ({
      key: `command ${id}`,
      group,
      title,
      keywords: group,
      note: "",
      keys: keys?.[0],
      disabled,
      run,
    }));
}

function taskItems({ tasks }: Board, open: (id: string) => void): Item[] {
  return [...tasks.values()].map((task) => ({
    key: `task ${task.id}`,
    group: "Tasks",
    title: spellOutBidi(task.title === task.id ? task.id : `${task.id} ${task.title}`),
    note: COLUMN_NAMES[columnOf(task)],
    run: () => open(task.id),
  }));
}

function batchItems({ batches }: Board, open: (id: string) => void): Item[] {
  return [...batches.values()].map(({ id, name, status, progress }) => ({
    key: `batch ${id}`,
    group: "Batches",
    title: `${spellOutBidi(name)} (batch ${shortId(id)})`,
    keywords: id,
    note: `${statusText(status)}, ${pluralize(progress.total, "task")}`,
    run: () => open(id),
  }));
}
