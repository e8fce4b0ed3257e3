import styles from "./GraphView.module.css";

/** Graph or list: two ways to see the same. */
export function ListToggle({ list, set }: { list: boolean; set(list: boolean): void }) {
  return (
    <fieldset className={styles.switch}>
      <legend className="unseen">Shown as</legend>
      <button type="button" aria-pressed={!list} onClick={() => set(false)}>
        Graph
      </button>
      <button type="button" aria-pressed={list} onClick={() => set(true)}>
        List
      </button>
    </fieldset>
  );
}
