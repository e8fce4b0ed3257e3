/* The settings people change most, in order, and the search in all settings. */

import type { SettingEntry } from "./useSettings";

interface CommonSetting {
  readonly name: string;
  readonly title: string;
}

interface SettingsSection {
  readonly title: string;
  readonly about?: string;
  readonly settings: readonly CommonSetting[];
}

export const COMMON_SECTIONS: readonly SettingsSection[] = [
  {
    title: "Concurrency",
    settings: [
      { name: "parallelLimit", title: "Parallel limit" },
      { name: "maxBatchSize", title: "Max batch size" },
    ],
  },
  {
    title: "Batch behavior",
    settings: [
      { name: "queueAutoApprove", title: "Approve the queue automatically" },
      { name: "stopOnFailure", title: "Stop on failure" },
      { name: "conflictBehavior", title: "On conflict" },
      { name: "retries", title: "Retries" },
      { name: "timeout", title: "Attempt timeout" },
    ],
  },
  {
    title: "Checks",
    settings: [
      { name: "verify", title: "Verify command" },
      { name: "gate", title: "Gate command" },
    ],
  },
  {
    title: "Budgets",
    settings: [
      { name: "budget", title: "Batch budget" },
      { name: "taskBudget", title: "Task budget" },
    ],
  },
  {
    title: "Notifications",
    about:
      "Sent by the engine, whether or not this page is open. Addresses and secrets are never shown in full or saved here.",
    settings: [
      { name: "notifyOn", title: "Notify me of" },
      { name: "notifyUrls", title: "Addresses" },
      { name: "notifyWebhook", title: "Webhook" },
      { name: "notifySecretFile", title: "Webhook secret file" },
    ],
  },
];

/** What a choice means, if its name doesn't say it. */
export const CHOICE_MEANINGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  conflictBehavior: {
    skip: "Skip the task and continue with the others",
    fail: "Stop the batch",
    repair: "Let an agent repair it",
  },
};

const TITLES = new Map(
  COMMON_SECTIONS.flatMap(({ settings }) => settings).map(({ name, title }) => [name, title]),
);

/** Settings that contain every word: the one with this name, those that are named so, then the others. */
export function findSettings(query: string, all: readonly SettingEntry[]): readonly SettingEntry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const contains = (text: string) => words.every((word) => text.toLowerCase().includes(word));
  const rank = ({ setting: { name, key, about, variable } }: SettingEntry): number => {
    if ([name, key].includes(query.trim())) return 0;
    if (contains(`${name} ${key} ${TITLES.get(name) ?? ""}`)) return 1;
    return contains(`${name} ${key} ${about} ${variable} ${TITLES.get(name) ?? ""}`) ? 2 : 3;
  };
  return [0, 1, 2].flatMap((wanted) => all.filter((entry) => rank(entry) === wanted));
}
