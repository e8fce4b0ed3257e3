/* What was done last, in this browser. */

import { remember as keep, recallList } from "../store/browser";

const KEY = "plait.recent";
const MOST = 12;

export function recent(): readonly string[] {
  return recallList(KEY);
}

export function remember(key: string): void {
  const next = [key, ...recent().filter((each) => each !== key)].slice(0, MOST);
  keep(KEY, JSON.stringify(next));
}
