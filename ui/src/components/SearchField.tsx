import type { InputHTMLAttributes, Ref } from "react";
import { classNames } from "./classNames";
import { Icon } from "./Icon";
import styles from "./SearchField.module.css";

interface SearchFieldProps
  extends Omit<InputHTMLAttributes<HTMLInputElement>, "type" | "value" | "onChange"> {
  ref?: Ref<HTMLInputElement>;
  /** Its accessible name. */
  label: string;
  value: string;
  onSearch(query: string): void;
}

/** The one kind of search field. */
export function SearchField({ label, className, onSearch, ...rest }: SearchFieldProps) {
  return (
    <label className={classNames(styles.search, className)}>
      <Icon name="search" size={14} />
      <input
        type="search"
        aria-label={label}
        autoComplete="off"
        spellCheck={false}
        {...rest}
        onChange={({ target }) => onSearch(target.value)}
      />
    </label>
  );
}
