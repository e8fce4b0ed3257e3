import { useId } from "react";
import { classNames } from "./classNames";
import styles from "./SegmentedControl.module.css";

interface Props<T extends string> {
  /** The accessible name of the choice. */
  legend: string;
  options: Readonly<Record<T, string>>;
  /** `null`: nothing is chosen yet. */
  selected: T | null;
  onSelect(option: T): void;
  className?: string | undefined;
}

/** A choice between a few views, side by side. */
export function SegmentedControl<T extends string>({
  legend,
  options,
  selected,
  onSelect,
  className,
}: Props<T>) {
  const group = useId();
  return (
    <fieldset className={classNames(styles.control, className)}>
      <legend className="visually-hidden">{legend}</legend>
      {(Object.keys(options) as T[]).map((option) => (
        <label key={option} className={styles.option}>
          <input type="radio" name={group} checked={option === selected} onChange={() => onSelect(option)} />
          {options[option]}
        </label>
      ))}
    </fieldset>
  );
}
