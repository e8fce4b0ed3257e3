/* Loads the settings of this project, and saves them one by one. */

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, describeError, unwrap } from "../api/client";
import { useSettingSchema } from "../api/queries";
import type { Problem, Setting, SettingOrigin } from "../api/types";
import { queryClient } from "../live/queryClient";
import type { Value } from "./values";

const SETTINGS_KEY = ["settings", "all"];
const REFRESH_MS = 15_000; // ms: another window, or a file, may have changed them

export interface SettingEntry {
  readonly setting: Setting;
  readonly value: Value;
  readonly given: SettingOrigin;
}

type SettingsResponse = Readonly<Record<string, unknown>> & {
  given: Readonly<Record<string, SettingOrigin>>;
};
type SaveResponse = SettingsResponse & { readonly notes: readonly Problem[]; readonly accepted: boolean };

export function useSettings() {
  const schema = useSettingSchema();
  const values = useQuery({
    queryKey: SETTINGS_KEY,
    queryFn: () => unwrap(api.GET("/api/settings")) as Promise<unknown> as Promise<SettingsResponse>,
    staleTime: 0,
    refetchInterval: REFRESH_MS,
  });
  const retry = () => void Promise.all([schema.refetch(), values.refetch()]);
  const ready = schema.data !== undefined && values.data !== undefined;
  return {
    all: ready ? joinSettings(schema.data.settings, values.data) : null,
    tables: schema.data?.tables ?? {},
    error: ready ? null : (schema.error ?? values.error),
    retry,
  };
}

function joinSettings(
  settings: readonly Setting[],
  values: SettingsResponse,
): ReadonlyMap<string, SettingEntry> {
  const entries = new Map<string, SettingEntry>();
  for (const setting of settings) {
    const given = values.given[setting.name];
    if (given !== undefined)
      entries.set(setting.name, { setting, given, value: (values[setting.name] ?? null) as Value });
  }
  return entries;
}

export type SaveResult =
  | { readonly state: "idle" | "saving" }
  | { readonly state: "saved"; readonly notes: readonly Problem[]; readonly accepted: boolean }
  | { readonly state: "refused"; readonly message: string; readonly hint: string | null };

/** A value, or a function of the current value when its turn comes, so that two quick changes both count. */
export type SettingChange = Value | ((known: Value) => Value);

/** Saves one setting and reports the result; `null` deletes the saved value. */
export function useSave(name: string) {
  const [result, setResult] = useState<SaveResult>({ state: "idle" });
  const save = async (value: SettingChange): Promise<boolean> => {
    setResult({ state: "saving" });
    try {
      const { notes, accepted } = await enqueueSave(name, value);
      setResult({ state: "saved", notes, accepted });
      return true;
    } catch (error) {
      setResult({ state: "refused", ...describeError(error) });
      return false;
    }
  };
  return {
    result,
    save,
    refuse: (message: string) => setResult({ state: "refused", message, hint: null }),
    cancel: () => setResult({ state: "idle" }),
  };
}

let saveQueue: Promise<unknown> = Promise.resolve();

/** Saves run one after another: every response contains all settings, and the last one must be the newest. */
function enqueueSave(name: string, value: SettingChange): ReturnType<typeof saveSetting> {
  const request = saveQueue.then(() => saveSetting(name, value));
  saveQueue = request.catch(() => undefined);
  return request;
}

async function saveSetting(name: string, change: SettingChange) {
  await queryClient.cancelQueries({ queryKey: SETTINGS_KEY }); // an older response must not replace a newer one
  const current = (queryClient.getQueryData<SettingsResponse>(SETTINGS_KEY)?.[name] ?? null) as Value;
  const body = { [name]: typeof change === "function" ? change(current) : change } as never; // a single setting
  const { notes, accepted, ...now } = (await unwrap(
    api.PATCH("/api/settings", { body }),
  )) as unknown as SaveResponse;
  queryClient.setQueryData(SETTINGS_KEY, now);
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [about, which] }) =>
      about === "agents" ||
      about === "plan" ||
      (about === "settings" && which !== "schema" && which !== "all"),
  });
  return { notes, accepted };
}
