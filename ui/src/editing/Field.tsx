import type { ReactNode } from "react";
import { ApiError, describeError } from "../api/client";
import { type FieldName as Name, parseFieldName } from "./draft";
import styles from "./Editor.module.css";

/** What the server says of a field, at that field. */
export function FieldError({ error, field }: { error: unknown; field: Name | "text" }) {
  if (!(error instanceof ApiError) || parseFieldName(error.field) !== field) return null;
  const { message, hint } = describeError(error);
  return (
    <span className={styles.refusal} role="alert">
      {message} {hint}
    </span>
  );
}

interface Props {
  field: Name;
  label: string;
  error: unknown;
  children: ReactNode;
}

/** One field of the form, with its name and what is wrong with it. */
export function Field({ field, label, error, children }: Props) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is what is put into it
    <label className={styles.field}>
      <span className={styles.label}>{label}</span>
      {children}
      <FieldError error={error} field={field} />
    </label>
  );
}
