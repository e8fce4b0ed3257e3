/* Options for the batch that is about to start. They apply to this run only. */

import { create } from "zustand";
import type { Mode, Preferences } from "../api/types";

const SETTING_NAMES = [
  "maxBatchSize",
  "queueAutoApprove",
  "retries",
  "timeout",
  "verify",
  "gate",
  "preflight",
  "stopOnFailure",
  "conflictBehavior",
  "budget",
] as const;
export type SettingName = (typeof SETTING_NAMES)[number];

/** Dependencies outside of the selection: an error, run them too, or ignore them. */
export type NeedsPolicy = "asked" | "with" | "without";

export interface RunOptions {
  readonly mode: Mode;
  /** Empty: the agents of the settings. */
  readonly agents: readonly string[];
  /** Run each task this many times per agent and merge the best result. */
  readonly contest: boolean;
  readonly times: number;
  readonly needs: NeedsPolicy;
  /** Also run what an earlier batch completed with the same text. */
  readonly again: boolean;
  /** Only values that differ from the current settings. */
  readonly settings: Readonly<Partial<Record<SettingName, string | boolean>>>;
}

export const DEFAULT_OPTIONS: RunOptions = {
  mode: "parallel",
  agents: [],
  contest: false,
  times: 1,
  needs: "asked",
  again: false,
  settings: {},
};

export const useRunOptions = create<RunOptions>(() => DEFAULT_OPTIONS);

/** The tasks whose plan is shown before they start. */
export const usePlannedTasks = create<{ readonly ids: readonly string[] | null }>(() => ({ ids: null }));

export function planRun(ids: readonly string[], mode: Mode = "parallel"): void {
  useRunOptions.setState({ mode });
  usePlannedTasks.setState({ ids });
}

export function resetRunOptions(): void {
  useRunOptions.setState(DEFAULT_OPTIONS);
}

/** Sets an option for this run; a value equal to the settings is removed. */
export function withSetting(
  options: RunOptions,
  name: SettingName,
  value: string | boolean,
  current: string | boolean,
): RunOptions {
  const { [name]: _, ...others } = options.settings;
  return { ...options, settings: value === current ? others : { ...others, [name]: value } };
}

/** A setting's value as text for a field. */
export function fieldValue(preferences: Preferences, name: SettingName): string | boolean {
  if (name === "timeout") return formatTimeout(preferences.timeout);
  const value = preferences[name];
  return typeof value === "boolean" ? value : value === null ? "" : String(value);
}

/** Seconds as people write them: 60m, 90s, 2h. */
export function formatTimeout(seconds: number): string {
  if (seconds > 0 && seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds > 0 && seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

export interface BatchBody {
  taskIds: string[];
  mode: Mode;
  settings: Record<string, string | number | boolean | string[]>;
  withNeeds: boolean;
  ignoreNeeds: boolean;
  again: boolean;
  contest?: { agents?: string[]; times: number };
}

/** The request body, the same for the preview and the batch. */
export function buildBatchBody(options: RunOptions, taskIds: readonly string[]): BatchBody {
  const settings: BatchBody["settings"] = {};
  for (const [name, value] of Object.entries(options.settings))
    settings[name] = NUMERIC_SETTINGS.has(name) ? parseNumber(value) : value;
  if (!options.contest && options.agents.length > 0) settings.agent = [...options.agents];
  const agents = options.agents.length > 0 ? { agents: [...options.agents] } : {};
  return {
    taskIds: [...taskIds],
    mode: options.mode,
    settings,
    withNeeds: options.needs === "with",
    ignoreNeeds: options.needs === "without",
    again: options.again,
    ...(options.contest ? { contest: { ...agents, times: options.times } } : {}),
  };
}

const NUMERIC_SETTINGS: ReadonlySet<string> = new Set<SettingName>(["maxBatchSize", "retries"]);

/** Invalid numbers are sent as typed: the server explains what is allowed. */
function parseNumber(value: string | boolean): string | number | boolean {
  return typeof value === "string" && /^\d{1,9}$/.test(value.trim()) ? Number(value) : value;
}

/** A random key. crypto.randomUUID is missing on insecure origins. */
export function newIdempotencyKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}
