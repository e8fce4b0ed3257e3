import type { SelectHTMLAttributes } from "react";
import { classNames } from "./classNames";
import { Icon } from "./Icon";
import styles from "./Select.module.css";

interface SelectProps<T extends string>
  extends Omit<SelectHTMLAttributes<HTMLSelectElement>, "value" | "onChange" | "onSelect"> {
  /** Where no visible label names it. */
  label?: string;
  /** Values with what is shown for them, in order. */
  options: readonly (readonly [value: T, text: string])[];
  value: string;
  onSelect(value: T): void;
}

/** The one kind of select. */
export function Select<T extends string>({ label, options, onSelect, className, ...rest }: SelectProps<T>) {
  return (
    <span className={classNames(styles.box, className)}>
      <select
        aria-label={label}
        {...rest}
        className={styles.select}
        onChange={({ target }) => onSelect(target.value as T)}
      >
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      <Icon name="down" size={14} />
    </span>
  );
}
