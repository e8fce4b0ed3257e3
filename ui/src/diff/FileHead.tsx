import { changes } from "../model/format";
import { Button } from "../parts/Button";
import { copy } from "../parts/clipboard";
import { Icon } from "../parts/Icon";
import type { FileChange } from "./change";
import styles from "./FileHead.module.css";
import { plain } from "./pieces";

const WORDS = {
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
export function FileHead({ file, folded, comments, onFold }: Props) {
  const name = plain(file.path);
  const word = WORDS[file.status];
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
            {file.before !== null && <span className={styles.before}>{plain(file.before)} → </span>}
            {name}
          </bdi>
        </button>
      </h3>
      {word !== null && <span className={styles.word}>{word}</span>}
      {file.mode !== null && <span className={styles.word}>mode {file.mode}</span>}
      {comments > 0 && (
        <span className={styles.word}>{comments === 1 ? "1 comment" : `${comments} comments`}</span>
      )}
      <span className={styles.counts}>
        {file.binary ? "binary" : changes({ files: 1, added: file.plus, removed: file.minus })}
      </span>
      <Button
        kind="quiet"
        icon
        label={`Copy the path of ${name}`}
        onClick={() => void copy(file.path, "the path")}
      >
        <Icon name="copy" size={14} />
      </Button>
    </div>
  );
}
