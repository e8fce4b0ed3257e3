import { memo } from "react";
import styles from "./Code.module.css";
import type { Line } from "./change";
import { ranges } from "./find";
import { LONGEST, pieces } from "./pieces";
import { marks } from "./words";

const NOWHERE: never[] = [];

interface Props {
  line: Line;
  /** The line that it is compared with. */
  mate: Line | null;
  /** What somebody looks for. */
  words: string;
}

/** The text of a line. Whatever it holds, it is text. */
export const Code = memo(function Code({ line, mate, words }: Props) {
  const changed =
    mate === null || line.kind === "same"
      ? NOWHERE
      : line.kind === "removed"
        ? marks(line.text, mate.text).old
        : marks(mate.text, line.text).new;
  const found = words === "" ? NOWHERE : ranges(line.text, words);
  return (
    <span className={styles.code}>
      {pieces(line.text, changed, found).map((piece, place) =>
        piece.marked || piece.found || piece.odd ? (
          <span
            // biome-ignore lint/suspicious/noArrayIndexKey: pieces have no other name, and never move
            key={place}
            className={styles.piece}
            data-marked={piece.marked || undefined}
            data-found={piece.found || undefined}
            data-odd={piece.odd || undefined}
          >
            {piece.text}
          </span>
        ) : (
          piece.text
        ),
      )}
      {line.text.length > LONGEST && (
        <span className={styles.aside}>
          {" "}
          … {(line.text.length - LONGEST).toLocaleString("en")} more letters
        </span>
      )}
      {line.cr && line.kind !== "same" && (
        <span className={styles.aside} title="This line ends with a carriage return">
          ␍
        </span>
      )}
      {line.bare && <span className={styles.aside}> no newline at the end</span>}
    </span>
  );
});
