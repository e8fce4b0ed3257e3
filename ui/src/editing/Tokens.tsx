import { type KeyboardEvent, type ReactNode, useId, useState } from "react";
import { Icon } from "../parts/Icon";
import styles from "./Editor.module.css";

interface TokenInputProps {
  label: string;
  hint: string;
  values: readonly string[];
  suggestions?: readonly string[];
  onChange(values: readonly string[]): void;
  error: ReactNode;
}

/** Several words, each of which can be taken away. Enter or a comma ends one; so does leaving the field. */
export function TokenInput({ label, hint, values, suggestions = [], onChange, error }: TokenInputProps) {
  const [typed, setTyped] = useState("");
  const name = useId();
  const add = (text: string) => {
    const more = text.split(",").map((each) => each.trim());
    const next = [...new Set([...values, ...more.filter(Boolean)])];
    if (next.length > values.length) onChange(next);
    setTyped("");
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && !event.ctrlKey && !event.metaKey && typed.trim() !== "") {
      event.preventDefault();
      add(typed);
    }
    if (event.key === "Backspace" && typed === "") onChange(values.slice(0, -1));
  };
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={name}>
        {label}
      </label>
      <div className={styles.tokens}>
        {values.map((value) => (
          <button
            key={value}
            type="button"
            className={styles.token}
            aria-label={`Take ${value} out of ${label}`}
            onClick={() => onChange(values.filter((each) => each !== value))}
          >
            <bdi>{value}</bdi>
            <Icon name="close" size={12} />
          </button>
        ))}
        <input
          id={name}
          list={`${name}-list`}
          value={typed}
          placeholder={values.length === 0 ? hint : ""}
          autoComplete="off"
          onChange={({ target, nativeEvent }) =>
            target.value.includes(",") || isSuggestion(nativeEvent)
              ? add(target.value)
              : setTyped(target.value)
          }
          onKeyDown={onKeyDown}
          onBlur={() => add(typed)}
        />
      </div>
      <datalist id={`${name}-list`}>
        {suggestions
          .filter((id) => !values.includes(id))
          .map((id) => (
            <option key={id} value={id} />
          ))}
      </datalist>
      {error}
    </div>
  );
}

/** Out of the suggestions: what is typed may be the beginning of a longer one. */
function isSuggestion(event: Event): boolean {
  return !(event instanceof InputEvent) || event.inputType === "insertReplacementText";
}
