import { type ComponentProps, lazy, Suspense, useId, useState } from "react";
import { useAgents } from "../api/agents";
import type { TaskDetail } from "../api/types";
import { Button } from "../parts/Button";
import { LoadingState } from "../parts/Empty";
import { useBoard } from "../store/board";
import type { TaskDraft } from "./draft";
import styles from "./Editor.module.css";
import { Field, FieldError } from "./Field";
import { TokenInput } from "./Tokens";
import type { TaskEditor } from "./useEditing";

const Markdown = lazy(() => import("../parts/Markdown"));

/** The dialog gives the focus to what has this attribute, and React would give it before the dialog is there. */
function focusFirst(input: HTMLInputElement | null): void {
  input?.setAttribute("autofocus", "");
}

type TextField = "phase" | "priority" | "agent" | "model" | "verify" | "run";

export function TaskFields({ editor, task }: { editor: TaskEditor; task: TaskDetail | null }) {
  const { draft, error, set } = editor;
  const ids = useOtherTaskIds(task?.id ?? null);
  return (
    <div className={styles.fields}>
      <div className={styles.main}>
        <Field field="title" label="Title" error={error}>
          <input
            ref={focusFirst}
            value={draft.title}
            dir="auto"
            placeholder="What is to be done, in a few words"
            onChange={(event) => set({ title: event.target.value })}
          />
        </Field>
        <BodyField editor={editor} />
      </div>
      <div className={styles.side}>
        <TokenInput
          label="Needs"
          hint="Starts only after these are done"
          values={draft.needs}
          suggestions={ids}
          onChange={(needs) => set({ needs })}
          error={<FieldError error={error} field="needs" />}
        />
        <TokenInput
          label="Touches"
          hint="Files that no other task may change meanwhile"
          values={draft.touches}
          onChange={(touches) => set({ touches })}
          error={<FieldError error={error} field="touches" />}
        />
        <TextFields editor={editor} />
      </div>
    </div>
  );
}

function useOtherTaskIds(own: string | null): readonly string[] {
  const tasks = useBoard(({ board }) => board.tasks);
  return [...tasks.keys()].filter((id) => id !== own);
}

function TextFields({ editor }: { editor: TaskEditor }) {
  const agents = useId();
  const known = useAgents();
  return (
    <>
      <div className={styles.pair}>
        <LineField editor={editor} field="phase" label="Phase" />
        <LineField editor={editor} field="priority" label="Priority" inputMode="numeric" />
        <LineField editor={editor} field="agent" label="Agent" list={agents} />
        <LineField editor={editor} field="model" label="Model" />
      </div>
      <datalist id={agents}>
        {known.data?.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <CommandField editor={editor} field="verify" label="Verify" />
      <CommandField editor={editor} field="run" label="Run" />
    </>
  );
}

type LineFieldProps = { editor: TaskEditor; field: TextField; label: string } & Pick<
  ComponentProps<"input">,
  "list" | "inputMode"
>;

function LineField({ editor, field, label, ...rest }: LineFieldProps) {
  return (
    <Field field={field} label={label} error={editor.error}>
      <input
        {...rest}
        value={editor.draft[field]}
        autoComplete="off"
        onChange={(event) => editor.set({ [field]: event.target.value } as Partial<TaskDraft>)}
      />
    </Field>
  );
}

function CommandField({ editor, field, label }: { editor: TaskEditor; field: TextField; label: string }) {
  return (
    <Field field={field} label={label} error={editor.error}>
      <textarea
        className={styles.code}
        rows={2}
        spellCheck={false}
        value={editor.draft[field]}
        onChange={(event) => editor.set({ [field]: event.target.value } as Partial<TaskDraft>)}
      />
    </Field>
  );
}

function BodyField({ editor }: { editor: TaskEditor }) {
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
          <Suspense fallback={<LoadingState what="Loading" />}>
            <Markdown text={editor.draft.body || "*Nothing is written yet.*"} />
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
            value={editor.draft.body}
            onChange={(event) => editor.set({ body: event.target.value })}
          />
        </>
      )}
      <FieldError error={editor.error} field="body" />
    </div>
  );
}
