/* The batch that somebody is about to start: what is said for this run alone. */

import { create } from "zustand";
import type { Mode, Preferences } from "../api/types";

export const NAMES = [
  "maxBatchSize",
  "queueAutoApprove",
  "retries",
  "timeout",
  "verify",
  "gate",
  "stopOnFailure",
  "conflictBehavior",
  "budget",
] as const;
export type Name = (typeof NAMES)[number];

/** What needs outside of the selection mean: they are in the way, they are run too, or they are gone without. */
export type Needs = "asked" | "with" | "without";

export interface Order {
  readonly mode: Mode;
  /** None: as the settings say. */
  readonly agents: readonly string[];
  /** Each task by every agent, so often; the best result is merged. */
  readonly contest: boolean;
  readonly times: number;
  readonly needs: Needs;
  /** Only what differs from the settings in force. */
  readonly settings: Readonly<Partial<Record<Name, string | boolean>>>;
}

export const PLAIN: Order = {
  mode: "parallel",
  agents: [],
  contest: false,
  times: 1,
  needs: "asked",
  settings: {},
};

export const useOrder = create<Order>(() => PLAIN);

export function resetOrder(): void {
  useOrder.setState(PLAIN);
}

/** Says it for this run; what is as the settings have it is not said. */
export function setting(order: Order, name: Name, value: string | boolean, inForce: string | boolean): Order {
  const { [name]: _, ...others } = order.settings;
  return { ...order, settings: value === inForce ? others : { ...others, [name]: value } };
}

/** A setting as it stands in a field. */
export function inField(preferences: Preferences, name: Name): string | boolean {
  if (name === "timeout") return asLength(preferences.timeout);
  const value = preferences[name];
  return typeof value === "boolean" ? value : value === null ? "" : String(value);
}

/** Seconds as people write them: 60m, 90s, 2h. */
export function asLength(seconds: number): string {
  if (seconds > 0 && seconds % 3600 === 0) return `${seconds / 3600}h`;
  return seconds > 0 && seconds % 60 === 0 ? `${seconds / 60}m` : `${seconds}s`;
}

export interface Body {
  taskIds: string[];
  mode: Mode;
  settings: Record<string, string | number | boolean | string[]>;
  withNeeds: boolean;
  ignoreNeeds: boolean;
  contest?: { agents?: string[]; times: number };
}

/** The same for the preview and for the batch. */
export function bodyOf(order: Order, taskIds: readonly string[]): Body {
  const settings: Body["settings"] = {};
  for (const [name, value] of Object.entries(order.settings))
    settings[name] = NUMBERS.has(name) ? asNumber(value) : value;
  if (!order.contest && order.agents.length > 0) settings.agent = [...order.agents];
  const agents = order.agents.length > 0 ? { agents: [...order.agents] } : {};
  return {
    taskIds: [...taskIds],
    mode: order.mode,
    settings,
    withNeeds: order.needs === "with",
    ignoreNeeds: order.needs === "without",
    ...(order.contest ? { contest: { ...agents, times: order.times } } : {}),
  };
}

const NUMBERS: ReadonlySet<string> = new Set<Name>(["maxBatchSize", "retries"]);

/** What is no number is left to the server, who says what it should be. */
function asNumber(value: string | boolean): string | number | boolean {
  return typeof value === "string" && /^\d{1,9}$/.test(value.trim()) ? Number(value) : value;
}

/** Words that nobody else will say. A page that is not on localhost has no crypto.randomUUID. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) =>
    byte.toString(16).padStart(2, "0"),
  ).join("");
}
