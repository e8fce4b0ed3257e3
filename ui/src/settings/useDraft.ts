import { type KeyboardEvent, useRef, useState } from "react";

interface FieldDraft {
  readonly text: string;
  /** What stood there when it was begun. */
  readonly original: string;
}

interface FieldDraftOptions {
  /** True: it was taken, and what is known now stands in its place. */
  commit(text: string): Promise<boolean>;
  cancel(): void;
  /** Enter is a letter of it: with Mod it commits. */
  multiline?: boolean;
}

/** What is being typed is kept, whatever happens elsewhere, until it is committed or given up by Escape. */
export function useFieldDraft(current: string, { commit, cancel, multiline = false }: FieldDraftOptions) {
  const [draft, setDraft] = useState<FieldDraft | null>(null);
  const tried = useRef<string | null>(null);
  const commitDraft = async (force: boolean) => {
    if (draft === null || (tried.current === draft.text && !force)) return;
    tried.current = draft.text;
    if (draft.text === current || (await commit(draft.text))) {
      setDraft((now) => (now === draft ? null : now));
      tried.current = null;
    }
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Escape" && draft !== null) {
      event.stopPropagation();
      tried.current = null;
      setDraft(null);
      cancel();
    } else if (event.key === "Enter" && (!multiline || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void commitDraft(true);
    }
  };
  return {
    /** Somebody else has changed it meanwhile. */
    changedElsewhere: draft !== null && draft.original !== current,
    field: {
      value: draft?.text ?? current,
      onChange: ({ target }: { target: { value: string } }) =>
        setDraft((now) => ({ text: target.value, original: now?.original ?? current })),
      onBlur: () => void commitDraft(false),
      onKeyDown: onKeyDown,
    },
  };
}
