import {
  type ComponentProps,
  type KeyboardEvent,
  lazy,
  type ReactNode,
  Suspense,
  useId,
  useState,
} from "react";
import { flushSync } from "react-dom";
import { ApiError, describeError } from "../api/client";
import { useAgents } from "../api/queries";
import type { TaskDetail } from "../api/types";
import { LoadingState } from "../components/EmptyState";
import { Icon } from "../components/Icon";
import { SegmentedControl, WRITE_OR_PREVIEW } from "../components/SegmentedControl";
import { spellOutBidi } from "../model/format";
import { useBoard } from "../store/board";
import styles from "./Editor.module.css";
import { type FieldName as Name, parseFieldName, type TaskDraft } from "./taskDraft";
import type { TaskEditor } from "./useTaskEditor";

const Markdown = lazy(() => import("../components/Markdown"));

/**
 * The dialog focuses the element with this attribute; React's autoFocus would run before the dialog opens.
 */
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
            placeholder="What needs to be done, in a few words"
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
          hint="Files it changes; other tasks wait"
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
        {known.data?.agents.map(({ name }) => (
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
      <SegmentedControl
        legend="Body"
        options={WRITE_OR_PREVIEW}
        selected={preview ? "preview" : "write"}
        onSelect={(chosen) => setPreview(chosen === "preview")}
      />
      {preview ? (
        <section
          className={styles.preview}
          aria-label="Preview"
          // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keyboard
          tabIndex={0}
        >
          <Suspense fallback={<LoadingState what="Loading" />}>
            <Markdown text={editor.draft.body || "*Nothing yet.*"} />
          </Suspense>
        </section>
      ) : (
        <>
          <label className="visually-hidden" htmlFor={name}>
            Body
          </label>
          <textarea
            id={name}
            className={styles.text}
            rows={16}
            dir="auto"
            placeholder="Everything the agent needs to know, in Markdown"
            value={editor.draft.body}
            onChange={(event) => editor.set({ body: event.target.value })}
          />
        </>
      )}
      <FieldError error={editor.error} field="body" />
    </div>
  );
}

interface TokenInputProps {
  label: string;
  hint: string;
  values: readonly string[];
  suggestions?: readonly string[];
  onChange(values: readonly string[]): void;
  error: ReactNode;
}

/** A list of values that can be removed. Enter, a comma or leaving the field adds one. */
function TokenInput({ label, hint, values, suggestions = [], onChange, error }: TokenInputProps) {
  const [typed, setTyped] = useState("");
  const name = useId();
  const add = (text: string) => {
    const more = text.split(",").map((each) => each.trim());
    const next = [...new Set([...values, ...more.filter(Boolean)])];
    if (next.length > values.length) onChange(next);
    setTyped("");
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter" && typed.trim() !== "") {
      event.preventDefault();
      flushSync(() => add(typed)); // with Ctrl, it is saved next
    }
    if (event.key === "Backspace" && typed === "") onChange(values.slice(0, -1));
  };
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={name}>
        {label}
      </label>
      <div className={styles.tokens}>
        {values.map((value) => (
          <button
            key={value}
            type="button"
            className={styles.token}
            aria-label={`Remove ${spellOutBidi(value)} from ${label}`}
            onClick={() => onChange(values.filter((each) => each !== value))}
          >
            <bdi>{spellOutBidi(value)}</bdi>
            <Icon name="close" size={12} />
          </button>
        ))}
        <input
          id={name}
          list={`${name}-list`}
          value={typed}
          placeholder={values.length === 0 ? hint : ""}
          autoComplete="off"
          onChange={({ target, nativeEvent }) =>
            target.value.includes(",") || isSuggestion(nativeEvent)
              ? add(target.value)
              : setTyped(target.value)
          }
          onKeyDown={onKeyDown}
          onBlur={() => add(typed)}
        />
      </div>
      <datalist id={`${name}-list`}>
        {suggestions
          .filter((id) => !values.includes(id))
          .map((id) => (
            <option key={id} value={id} />
          ))}
      </datalist>
      {error}
    </div>
  );
}

/** Chosen from the suggestions: typed text may be the beginning of a longer one. */
function isSuggestion(event: Event): boolean {
  return !(event instanceof InputEvent) || event.inputType === "insertReplacementText";
}

/** The server's error message, at its field. */
export function FieldError({ error, field }: { error: unknown; field: Name | "text" }) {
  if (!(error instanceof ApiError) || parseFieldName(error.field) !== field) return null;
  const { message, hint } = describeError(error);
  return (
    <span className={styles.error} role="alert">
      {message} {hint}
    </span>
  );
}

interface Props {
  field: Name;
  label: string;
  error: unknown;
  children: ReactNode;
}

/** A form field with its label and error. */
function Field({ field, label, error, children }: Props) {
  return (
    // biome-ignore lint/a11y/noLabelWithoutControl: the control is its child
    <label className={styles.field}>
      <span className={styles.label}>{label}</span>
      {children}
      <FieldError error={error} field={field} />
    </label>
  );
}
