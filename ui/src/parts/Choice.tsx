import { useId } from "react";
import styles from "./Choice.module.css";
import { classes } from "./classes";

interface Props<T extends string> {
  /** What is chosen, for those who can't see it. */
  legend: string;
  options: Readonly<Record<T, string>>;
  chosen: T;
  onChoose(option: T): void;
  className?: string | undefined;
}

/** One of a few ways to look at something, side by side. */
export function Choice<T extends string>({ legend, options, chosen, onChoose, className }: Props<T>) {
  const group = useId();
  return (
    <fieldset className={classes(styles.choice, className)}>
      <legend className="unseen">{legend}</legend>
      {(Object.keys(options) as T[]).map((option) => (
        <label key={option} className={styles.option}>
          <input type="radio" name={group} checked={option === chosen} onChange={() => onChoose(option)} />
          {options[option]}
        </label>
      ))}
    </fieldset>
  );
}
