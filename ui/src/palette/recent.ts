/* What was done last, in this browser. */

import { saveItem as keep, loadList } from "../store/browser";

const KEY = "plait.recent";
const MAX_RECENT = 12;

export function loadRecent(): readonly string[] {
  return loadList(KEY);
}

export function rememberItem(key: string): void {
  const next = [key, ...loadRecent().filter((each) => each !== key)].slice(0, MAX_RECENT);
  keep(KEY, JSON.stringify(next));
}
