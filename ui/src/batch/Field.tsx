import { type ReactNode, useId } from "react";
import styles from "./Field.module.css";

interface Props {
  label: string;
  /** What is wrong with it, as the server said. */
  error?: string | null | undefined;
  /** Draws the control with what makes it belong to its label and its error. */
  children(control: {
    id: string;
    "aria-invalid": boolean;
    "aria-describedby": string | undefined;
  }): ReactNode;
}

/** A label, a control, and at it what is wrong. */
export function Field({ label, error, children }: Props) {
  const id = useId();
  const wrong = error ? `${id}-wrong` : undefined;
  return (
    <div className={styles.field}>
      <label htmlFor={id}>{label}</label>
      {children({ id, "aria-invalid": Boolean(error), "aria-describedby": wrong })}
      {error && (
        <p id={wrong} className={styles.wrong} role="alert">
          {error}
        </p>
      )}
    </div>
  );
}

interface CheckboxProps {
  label: string;
  checked: boolean;
  onChange(checked: boolean): void;
  disabled?: string | null;
  /** More about it, beside its name. */
  note?: string | null;
}

export function Checkbox({ label, checked, onChange, disabled = null, note = null }: CheckboxProps) {
  return (
    <label className={styles.check} title={disabled ?? undefined} data-off={disabled !== null || undefined}>
      <input
        type="checkbox"
        checked={checked}
        disabled={disabled !== null}
        onChange={(event) => onChange(event.target.checked)}
      />
      <span>
        {label}
        {note && <span className={styles.note}>{note}</span>}
      </span>
    </label>
  );
}
