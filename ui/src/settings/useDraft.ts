import { type KeyboardEvent, useRef, useState } from "react";

interface Draft {
  readonly text: string;
  /** What stood there when it was begun. */
  readonly over: string;
}

interface Options {
  /** True: it was taken, and what is known now stands in its place. */
  commit(text: string): Promise<boolean>;
  giveUp(): void;
  /** Enter is a letter of it: with Mod it commits. */
  lines?: boolean;
}

/** What is being typed is kept, whatever happens elsewhere, until it is committed or given up by Escape. */
export function useDraft(known: string, { commit, giveUp, lines = false }: Options) {
  const [draft, setDraft] = useState<Draft | null>(null);
  const tried = useRef<string | null>(null);
  const done = async (insist: boolean) => {
    if (draft === null || (tried.current === draft.text && !insist)) return;
    tried.current = draft.text;
    if (draft.text === known || (await commit(draft.text))) {
      setDraft((now) => (now === draft ? null : now));
      tried.current = null;
    }
  };
  const pressed = (event: KeyboardEvent) => {
    if (event.key === "Escape" && draft !== null) {
      event.stopPropagation();
      tried.current = null;
      setDraft(null);
      giveUp();
    } else if (event.key === "Enter" && (!lines || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      void done(true);
    }
  };
  return {
    /** Somebody else has changed it meanwhile. */
    overtaken: draft !== null && draft.over !== known,
    field: {
      value: draft?.text ?? known,
      onChange: ({ target }: { target: { value: string } }) =>
        setDraft((now) => ({ text: target.value, over: now?.over ?? known })),
      onBlur: () => void done(false),
      onKeyDown: pressed,
    },
  };
}
