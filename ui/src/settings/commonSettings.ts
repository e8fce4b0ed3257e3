/* The settings people change most, in order, and the search in all settings. */

import type { Setting } from "../api/types";
import type { SettingEntry } from "./useSettings";

interface SettingsSection {
  readonly title: string;
  readonly about?: string;
  readonly settings: readonly string[];
}

export const COMMON_SECTIONS: readonly SettingsSection[] = [
  {
    title: "Concurrency",
    settings: ["parallelLimit", "maxBatchSize"],
  },
  {
    title: "Batch behavior",
    settings: ["queueAutoApprove", "stopOnFailure", "conflictBehavior", "retries", "timeout"],
  },
  {
    title: "Checks",
    settings: ["verify", "gate"],
  },
  {
    title: "Budgets",
    settings: ["budget", "taskBudget"],
  },
  {
    title: "Notifications",
    about:
      "Sent by the engine, whether or not this page is open. Addresses and secrets are never shown in full or saved here.",
    settings: ["notifyOn", "notifyUrls", "notifyWebhook", "notifySecretFile"],
  },
];

/** What a choice means, if its name doesn't say it. */
export const CHOICE_MEANINGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  conflictBehavior: {
    skip: "Skip the task",
    fail: "Stop the batch",
    repair: "Let an agent repair it",
  },
};

const WORDS: Readonly<Record<string, string>> = { pr: "PR", url: "URL", urls: "URLs" };

/** Its name in TOML, in words: `run.max_parallel` is "Max parallel", `engine.parallel_limit` "Engine parallel limit". */
export function settingTitle({ key }: Pick<Setting, "key">): string {
  const words = key
    .replace(/^run\./, "")
    .split(/[._]/)
    .map((word) => WORDS[word] ?? word)
    .join(" ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Every name that it has: on this page, in TOML, as a flag, in the environment and in JSON. */
function allNames(setting: Setting): string {
  const { name, key, flag, variable } = setting;
  return [settingTitle(setting), name, key, flag ?? "", variable].join(" ").toLowerCase();
}

/** Settings that contain every word: the one with this name, those that are named so, then the others. */
export function findSettings(query: string, all: readonly SettingEntry[]): readonly SettingEntry[] {
  const sought = query.trim().toLowerCase();
  const words = sought.split(/\s+/).filter(Boolean);
  const rank = ({ setting }: SettingEntry): number => {
    const names = allNames(setting);
    const { name, key, flag, variable, about } = setting;
    if ([name, key, flag, variable, settingTitle(setting)].some((each) => each?.toLowerCase() === sought))
      return 0;
    if (words.every((word) => names.includes(word))) return 1;
    return words.every((word) => names.includes(word) || about.toLowerCase().includes(word)) ? 2 : 3;
  };
  return [0, 1, 2].flatMap((wanted) => all.filter((entry) => rank(entry) === wanted));
}
