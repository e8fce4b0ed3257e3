/* The settings of this project: read, and saved one by one. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, inWords, told } from "../api/client";
import type { Given, Problem, Setting } from "../api/types";
import { queries } from "../live/queries";
import type { Value } from "./values";

const ALL = ["settings", "all"];
const READ = 15_000; // ms: another window, or a file, may have changed them

export interface Told {
  readonly setting: Setting;
  readonly value: Value;
  readonly given: Given;
}

type Answer = Readonly<Record<string, unknown>> & { given: Readonly<Record<string, Given>> };
type Saved = Answer & { readonly notes: readonly Problem[]; readonly accepted: boolean };

export function useSettings() {
  const schema = useQuery({
    queryKey: ["settings", "schema"],
    queryFn: () => told(api.GET("/api/settings/schema")),
    staleTime: Number.POSITIVE_INFINITY,
  });
  const values = useQuery({
    queryKey: ALL,
    queryFn: () => told(api.GET("/api/settings")) as Promise<unknown> as Promise<Answer>,
    staleTime: 0,
    refetchInterval: READ,
  });
  const again = () => void Promise.all([schema.refetch(), values.refetch()]);
  const ready = schema.data !== undefined && values.data !== undefined;
  return {
    all: ready ? join(schema.data.settings, values.data) : null,
    tables: schema.data?.tables ?? {},
    error: ready ? null : (schema.error ?? values.error),
    again,
  };
}

function join(settings: readonly Setting[], values: Answer): ReadonlyMap<string, Told> {
  const found = new Map<string, Told>();
  for (const setting of settings) {
    const given = values.given[setting.name];
    if (given !== undefined)
      found.set(setting.name, { setting, given, value: (values[setting.name] ?? null) as Value });
  }
  return found;
}

export type Outcome =
  | { readonly is: "idle" | "saving" }
  | { readonly is: "saved"; readonly notes: readonly Problem[]; readonly accepted: boolean }
  | { readonly is: "refused"; readonly message: string; readonly hint: string | null };

/** A value, or what to make of the one that stands there when its turn comes: two quick changes are two. */
export type Change = Value | ((known: Value) => Value);

/** Saves one setting, and says what became of it; `null` forgets what was saved. */
export function useSave(name: string) {
  const [outcome, setOutcome] = useState<Outcome>({ is: "idle" });
  const save = async (value: Change): Promise<boolean> => {
    setOutcome({ is: "saving" });
    try {
      const { notes, accepted } = await patch(name, value);
      setOutcome({ is: "saved", notes, accepted });
      return true;
    } catch (error) {
      setOutcome({ is: "refused", ...inWords(error) });
      return false;
    }
  };
  return {
    outcome,
    save,
    refuse: (message: string) => setOutcome({ is: "refused", message, hint: null }),
    giveUp: () => setOutcome({ is: "idle" }),
  };
}

let turn: Promise<unknown> = Promise.resolve();

/** One after another: every answer tells all settings, and the last one told has to be the newest. */
function patch(name: string, value: Change): ReturnType<typeof patchNow> {
  const asked = turn.then(() => patchNow(name, value));
  turn = asked.catch(() => undefined);
  return asked;
}

async function patchNow(name: string, change: Change) {
  await queries.cancelQueries({ queryKey: ALL }); // an older answer must not take the newer one's place
  const known = (queries.getQueryData<Answer>(ALL)?.[name] ?? null) as Value;
  const body = { [name]: typeof change === "function" ? change(known) : change } as never; // one name of many
  const { notes, accepted, ...now } = (await told(api.PATCH("/api/settings", { body }))) as unknown as Saved;
  queries.setQueryData(ALL, now);
  void queries.invalidateQueries({
    predicate: ({ queryKey: [about, which] }) =>
      about === "agents" ||
      about === "plan" ||
      (about === "settings" && which !== "schema" && which !== "all"),
  });
  return { notes, accepted };
}
