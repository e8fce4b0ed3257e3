import type { ButtonHTMLAttributes, ReactNode } from "react";
import styles from "./Button.module.css";
import { classNames } from "./classNames";

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "disabled"> {
  kind?: "plain" | "primary" | "danger" | "quiet";
  /** Only an icon is seen: `label` is its name then, and its tooltip. */
  icon?: boolean;
  label?: string;
  /** A sentence: why it can't be pressed. It can still be focused, and says it. */
  disabled?: string | boolean | null | undefined;
  /** It was pressed, and the answer has not come. */
  busy?: boolean;
  children?: ReactNode;
}

/** A button that can't be pressed says why. */
export function Button({
  kind = "plain",
  icon = false,
  label,
  disabled,
  busy = false,
  className,
  children,
  onClick,
  title,
  ...rest
}: ButtonProps) {
  const inactive = Boolean(disabled) || busy;
  const reason = typeof disabled === "string" ? disabled : undefined;
  return (
    <button
      type="button"
      {...rest}
      className={classNames(styles.button, styles[kind], icon && styles.icon, className)}
      aria-label={label}
      aria-disabled={inactive || undefined}
      aria-busy={busy || undefined}
      title={reason ?? title ?? (icon ? label : undefined)}
      onClick={inactive ? (event) => event.preventDefault() : onClick}
    >
      {children}
    </button>
  );
}
