/* Preferences in localStorage. Without storage they last as long as the window. */

type ItemStorage = Pick<Storage, "getItem" | "setItem">;

export function loadItem(key: string, from?: ItemStorage): string | null {
  try {
    return (from ?? window.localStorage).getItem(key);
  } catch {
    return null;
  }
}

export function saveItem(key: string, value: string, into?: ItemStorage): void {
  try {
    (into ?? window.localStorage).setItem(key, value);
  } catch {
    return;
  }
}

/** A stored list of strings; an older version of the page may have stored something else. */
export function loadList(key: string, from?: ItemStorage): readonly string[] {
  try {
    const value: unknown = JSON.parse(loadItem(key, from) ?? "[]");
    return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
  } catch {
    return [];
  }
}
