/* Which settings somebody looks for. Pure. */

import { COMMON_SECTIONS } from "./common";
import type { SettingEntry } from "./useSettings";

const TITLES = new Map(
  COMMON_SECTIONS.flatMap(({ settings }) => settings).map(({ name, title }) => [name, title]),
);

/** Those that hold every word, in their order; the one whose own name it is stands alone. */
export function findSettings(query: string, all: readonly SettingEntry[]): readonly SettingEntry[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const exact = all.filter(({ setting }) =>
    [setting.key, setting.name].some((each) => each === query.trim()),
  );
  if (exact.length > 0) return exact;
  return all.filter(({ setting: { name, key, about, variable } }) => {
    const text = `${name} ${key} ${about} ${variable} ${TITLES.get(name) ?? ""}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
}
