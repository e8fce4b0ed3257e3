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
  /** Why no other option can be chosen now, as a sentence. */
  disabled?: string | null;
  className?: string | undefined;
}

/** A Markdown text is edited, or shown as it will look. */
export const WRITE_OR_PREVIEW = { write: "Write", preview: "Preview" } as const;

/** A choice between a few views, side by side. */
export function SegmentedControl<T extends string>({
  legend,
  options,
  selected,
  onSelect,
  disabled = null,
  className,
}: Props<T>) {
  const group = useId();
  return (
    <fieldset className={classNames(styles.control, className)}>
      <legend className="visually-hidden">{legend}</legend>
      {(Object.keys(options) as T[]).map((option) => (
        <label
          key={option}
          className={styles.option}
          title={option === selected ? undefined : (disabled ?? undefined)}
        >
          <input
            type="radio"
            name={group}
            checked={option === selected}
            aria-disabled={(disabled !== null && option !== selected) || undefined}
            onChange={() => disabled === null && onSelect(option)}
          />
          {options[option]}
        </label>
      ))}
    </fieldset>
  );
}
