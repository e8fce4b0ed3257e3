/* A change as it is shown: files, their hunks, and lines with their numbers on both sides. */

export type LineKind = "same" | "added" | "removed";

export interface Line {
  readonly kind: LineKind;
  /** Its number before and after; 0 on the side where it is not. */
  readonly old: number;
  readonly new: number;
  /** Without its end. */
  readonly text: string;
  /** It ends with a carriage return and a newline. */
  readonly endsWithCr: boolean;
  /** The file ends here without a newline. */
  readonly noNewline: boolean;
}

export interface Hunk {
  /** As git says it: `@@ -1,4 +1,6 @@ def roof():`. */
  readonly header: string;
  readonly lines: readonly Line[];
}

export type FileStatus = "added" | "deleted" | "renamed" | "copied" | "modified";

export interface FileChange {
  readonly path: string;
  /** The name it had, if it had another. */
  readonly before: string | null;
  readonly status: FileStatus;
  /** `100644 → 100755`, where it changed. */
  readonly mode: string | null;
  readonly binary: boolean;
  readonly plus: number;
  readonly minus: number;
  readonly hunks: readonly Hunk[];
  /** Why there is less to see than one would think; a sentence. */
  readonly note: string | null;
}
