import { Button } from "../parts/Button";
import { copyToClipboard } from "../parts/clipboard";
import { Icon } from "../parts/Icon";
import styles from "./Copyable.module.css";

/** A command to be run elsewhere. */
export function CopyableCommand({ text }: { text: string }) {
  return (
    <span className={styles.copyable}>
      <code>{text}</code>
      <Button
        kind="quiet"
        icon
        label={`Copy: ${text}`}
        onClick={() => void copyToClipboard(text, "the command")}
      >
        <Icon name="copy" size={14} />
      </Button>
    </span>
  );
}
