/* Which settings somebody looks for. Pure. */

import { COMMON } from "./common";
import type { Told } from "./useSettings";

const TITLES = new Map(COMMON.flatMap(({ settings }) => settings).map(({ name, title }) => [name, title]));

/** Those that hold every word, in their order; the one whose own name it is stands alone. */
export function found(words: string, all: readonly Told[]): readonly Told[] {
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean);
  const exact = all.filter(({ setting }) =>
    [setting.key, setting.name].some((each) => each === words.trim()),
  );
  if (exact.length > 0) return exact;
  return all.filter(({ setting: { name, key, about, variable } }) => {
    const text = `${name} ${key} ${about} ${variable} ${TITLES.get(name) ?? ""}`.toLowerCase();
    return wanted.every((word) => text.includes(word));
  });
}
