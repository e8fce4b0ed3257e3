import { formatDiffstat } from "../model/format";
import { Button } from "../parts/Button";
import { copyToClipboard } from "../parts/clipboard";
import { Icon } from "../parts/Icon";
import type { FileChange } from "./change";
import styles from "./FileHead.module.css";
import { escapeSpecial } from "./pieces";

const STATUS_LABELS = {
  added: "new",
  deleted: "deleted",
  renamed: "renamed",
  copied: "copied",
  modified: null,
} as const;

interface Props {
  file: FileChange;
  folded: boolean;
  comments: number;
  onFold(path: string, on: boolean): void;
}

/** Stays in sight as long as its file does. */
export function FileHeader({ file, folded, comments, onFold }: Props) {
  const name = escapeSpecial(file.path);
  const label = STATUS_LABELS[file.status];
  return (
    <div className={styles.head}>
      <h3 className={styles.name}>
        <button
          type="button"
          className={styles.fold}
          aria-expanded={!folded}
          onClick={() => onFold(file.path, !folded)}
        >
          <span className={styles.chevron}>
            <Icon name="chevron" size={14} />
          </span>
          <bdi className={styles.path}>
            {file.before !== null && <span className={styles.before}>{escapeSpecial(file.before)} → </span>}
            {name}
          </bdi>
        </button>
      </h3>
      {label !== null && <span className={styles.word}>{label}</span>}
      {file.mode !== null && <span className={styles.word}>mode {file.mode}</span>}
      {comments > 0 && (
        <span className={styles.word}>{comments === 1 ? "1 comment" : `${comments} comments`}</span>
      )}
      <span className={styles.counts}>
        {file.binary ? "binary" : formatDiffstat({ files: 1, added: file.plus, removed: file.minus })}
      </span>
      <Button
        kind="quiet"
        icon
        label={`Copy the path of ${name}`}
        onClick={() => void copyToClipboard(file.path, "the path")}
      >
        <Icon name="copy" size={14} />
      </Button>
    </div>
  );
}
