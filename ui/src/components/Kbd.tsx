import styles from "./Kbd.module.css";

const MAC = typeof navigator !== "undefined" && navigator.platform.startsWith("Mac");
const KEY_LABELS: Record<string, string> = {
  Mod: MAC ? "⌘" : "Ctrl",
  Shift: "⇧",
  Alt: MAC ? "⌥" : "Alt",
  Escape: "Esc",
  Enter: "↵",
  ArrowUp: "↑",
  ArrowDown: "↓",
  ArrowLeft: "←",
  ArrowRight: "→",
};

/** Keys as commands spell them: "Mod+K", "g b". */
export function Kbd({ keys }: { keys: string }) {
  return (
    <span className={styles.keys}>
      {keys.split(" ").map((key) => (
        <kbd key={key} className={styles.key}>
          {key
            .split("+")
            .map((each) => KEY_LABELS[each] ?? (each.length === 1 ? each.toUpperCase() : each))
            .join(" ")}
        </kbd>
      ))}
    </span>
  );
}
