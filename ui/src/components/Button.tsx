import type { ButtonHTMLAttributes, ReactNode } from "react";
import { Link } from "wouter";
import styles from "./Button.module.css";
import { classNames } from "./classNames";

export interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "disabled"> {
  kind?: "plain" | "primary" | "danger" | "quiet";
  /** Shows only an icon: `label` is its name and tooltip. */
  icon?: boolean;
  label?: string;
  /** Why it is disabled, as a sentence. It stays focusable and shows the reason. */
  disabled?: string | boolean | null | undefined;
  /** It was pressed, and the response is pending. */
  busy?: boolean;
  children?: ReactNode;
}

/** A disabled button says why. */
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

/** A link that looks like a button. */
export function ButtonLink({
  kind = "plain",
  href,
  children,
}: {
  kind?: "plain" | "primary";
  href: string;
  children: ReactNode;
}) {
  return (
    <Link href={href} className={classNames(styles.button, styles[kind])}>
      {children}
    </Link>
  );
}
