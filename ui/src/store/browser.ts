/* What this browser keeps of a person's ways. It may refuse to: then a way lasts as long as the window. */

type Kept = Pick<Storage, "getItem" | "setItem">;

export function recall(key: string, from?: Kept): string | null {
  try {
    return (from ?? window.localStorage).getItem(key);
  } catch {
    return null;
  }
}

export function remember(key: string, value: string, into?: Kept): void {
  try {
    (into ?? window.localStorage).setItem(key, value);
  } catch {
    return;
  }
}

/** Words that were kept as a list; an older page may have kept something else there. */
export function recallList(key: string, from?: Kept): readonly string[] {
  try {
    const said: unknown = JSON.parse(recall(key, from) ?? "[]");
    return Array.isArray(said) ? said.filter((each) => typeof each === "string") : [];
  } catch {
    return [];
  }
}
