import { type ComponentProps, lazy, Suspense, useId, useState } from "react";
import { useAgents } from "../api/agents";
import type { WholeTask } from "../api/types";
import { Button } from "../parts/Button";
import { Loading } from "../parts/Empty";
import { useBoard } from "../store/board";
import type { Draft } from "./draft";
import styles from "./Editor.module.css";
import { Field, Refusal } from "./Field";
import { Tokens } from "./Tokens";
import type { Editing } from "./useEditing";

const Markdown = lazy(() => import("../parts/Markdown"));

/** The dialog gives the focus to what has this attribute, and React would give it before the dialog is there. */
function first(input: HTMLInputElement | null): void {
  input?.setAttribute("autofocus", "");
}

type Word = "phase" | "priority" | "agent" | "model" | "verify" | "run";

export function Fields({ editing, task }: { editing: Editing; task: WholeTask | null }) {
  const { draft, error, set } = editing;
  const ids = useIds(task?.id ?? null);
  return (
    <div className={styles.fields}>
      <div className={styles.main}>
        <Field field="title" label="Title" error={error}>
          <input
            ref={first}
            value={draft.title}
            dir="auto"
            placeholder="What is to be done, in a few words"
            onChange={(event) => set({ title: event.target.value })}
          />
        </Field>
        <Body editing={editing} />
      </div>
      <div className={styles.side}>
        <Tokens
          label="Needs"
          hint="Starts only after these are done"
          values={draft.needs}
          suggestions={ids}
          onChange={(needs) => set({ needs })}
          refusal={<Refusal error={error} field="needs" />}
        />
        <Tokens
          label="Touches"
          hint="Files that no other task may change meanwhile"
          values={draft.touches}
          onChange={(touches) => set({ touches })}
          refusal={<Refusal error={error} field="touches" />}
        />
        <Words editing={editing} />
      </div>
    </div>
  );
}

function useIds(own: string | null): readonly string[] {
  const tasks = useBoard(({ board }) => board.tasks);
  return [...tasks.keys()].filter((id) => id !== own);
}

function Words({ editing }: { editing: Editing }) {
  const agents = useId();
  const known = useAgents();
  return (
    <>
      <div className={styles.pair}>
        <Line editing={editing} field="phase" label="Phase" />
        <Line editing={editing} field="priority" label="Priority" inputMode="numeric" />
        <Line editing={editing} field="agent" label="Agent" list={agents} />
        <Line editing={editing} field="model" label="Model" />
      </div>
      <datalist id={agents}>
        {known.data?.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <Command editing={editing} field="verify" label="Verify" />
      <Command editing={editing} field="run" label="Run" />
    </>
  );
}

type LineProps = { editing: Editing; field: Word; label: string } & Pick<
  ComponentProps<"input">,
  "list" | "inputMode"
>;

function Line({ editing, field, label, ...rest }: LineProps) {
  return (
    <Field field={field} label={label} error={editing.error}>
      <input
        {...rest}
        value={editing.draft[field]}
        autoComplete="off"
        onChange={(event) => editing.set({ [field]: event.target.value } as Partial<Draft>)}
      />
    </Field>
  );
}

function Command({ editing, field, label }: { editing: Editing; field: Word; label: string }) {
  return (
    <Field field={field} label={label} error={editing.error}>
      <textarea
        className={styles.code}
        rows={2}
        spellCheck={false}
        value={editing.draft[field]}
        onChange={(event) => editing.set({ [field]: event.target.value } as Partial<Draft>)}
      />
    </Field>
  );
}

function Body({ editing }: { editing: Editing }) {
  const [preview, setPreview] = useState(false);
  const name = useId();
  return (
    <div className={styles.body}>
      {/* biome-ignore lint/a11y/useSemanticElements: these are two buttons, and no fields of a form */}
      <div className={styles.switch} role="group" aria-label="Body">
        <Button kind="quiet" aria-pressed={!preview} onClick={() => setPreview(false)}>
          Write
        </Button>
        <Button kind="quiet" aria-pressed={preview} onClick={() => setPreview(true)}>
          Preview
        </Button>
      </div>
      {preview ? (
        <section className={styles.preview} aria-label="Preview">
          <Suspense fallback={<Loading what="Loading" />}>
            <Markdown text={editing.draft.body || "*Nothing is written yet.*"} />
          </Suspense>
        </section>
      ) : (
        <>
          <label className="unseen" htmlFor={name}>
            Body
          </label>
          <textarea
            id={name}
            className={styles.text}
            rows={16}
            dir="auto"
            placeholder="Everything the agent has to know, as markdown"
            value={editing.draft.body}
            onChange={(event) => editing.set({ body: event.target.value })}
          />
        </>
      )}
      <Refusal error={editing.error} field="body" />
    </div>
  );
}
