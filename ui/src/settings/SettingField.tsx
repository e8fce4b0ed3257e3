/* One field for each kind of setting. A field commits on Enter, on blur or on click. */

import { type KeyboardEvent, type ReactNode, useRef, useState } from "react";
import type { Setting } from "../api/types";
import { classNames } from "../components/classNames";
import { Select } from "../components/Select";
import { CHOICE_MEANINGS } from "./commonSettings";
import styles from "./SettingField.module.css";
import type { SettingChange } from "./useSettings";
import { formatValue, parseValue, toggleChoice, type Value } from "./values";

export interface SettingFieldProps {
  readonly setting: Setting;
  readonly value: Value;
  /** Ids of the field, of its label, and of its descriptions (source, problem). */
  readonly id: string;
  readonly labelledBy: string;
  readonly describedBy: string;
  readonly disabled: boolean;
  readonly refused: boolean;
  /** True: it was saved. */
  save(value: SettingChange): Promise<boolean>;
  /** Reports input that can't be sent. */
  refuse(message: string): void;
  giveUp(): void;
}

const MAX_RADIOS = 4; // number of choices up to which all are shown

export function SettingField(props: SettingFieldProps): ReactNode {
  const { kind, name, choices } = props.setting;
  if (name === "maxBatchSize") return <SliderField {...props} />;
  switch (kind) {
    case "switch":
      return <SwitchField {...props} />;
    case "choice":
      return choices.length <= MAX_RADIOS ? <RadioField {...props} /> : <SelectField {...props} />;
    case "choices":
      return <ChecksField {...props} />;
    case "list":
    case "table":
      return <LinesField {...props} />;
    default:
      return <TextField {...props} />;
  }
}

/** Kinds with a single field that a label can refer to; the others are groups of fields. */
export function hasOneField({ kind, choices }: Setting): boolean {
  return kind !== "choices" && (kind !== "choice" || choices.length > MAX_RADIOS);
}

function inputProps({ id, describedBy, disabled, refused }: SettingFieldProps) {
  return { id, "aria-describedby": describedBy, "aria-invalid": refused || undefined, disabled };
}

function groupProps({ labelledBy, describedBy }: SettingFieldProps) {
  return { "aria-labelledby": labelledBy, "aria-describedby": describedBy };
}

function useTextDraft(props: SettingFieldProps, multiline: boolean) {
  const { setting, value, save, refuse, giveUp } = props;
  const commit = async (text: string) => {
    let typed: Value;
    try {
      typed = parseValue(setting.kind, text);
    } catch {
      refuse(`This is not a JSON object. It must be ${setting.allowed}.`);
      return false;
    }
    return save(typed);
  };
  return useFieldDraft(formatValue(setting.kind, value), { commit, cancel: giveUp, multiline });
}

function ChangedElsewhere({ value, setting }: SettingFieldProps) {
  const now = formatValue(setting.kind, value) || "none";
  return <p className={styles.changedElsewhere}>Changed elsewhere to {now}. Press Escape to use that.</p>;
}

const NARROW_KINDS: ReadonlySet<string> = new Set(["number", "duration", "size", "amount"]);

function TextField(props: SettingFieldProps) {
  const { field, changedElsewhere } = useTextDraft(props, false);
  const narrow = NARROW_KINDS.has(props.setting.kind);
  return (
    <>
      <input
        type="text"
        className={classNames(styles.text, narrow && styles.narrow, !narrow && styles.mono)}
        spellCheck={false}
        autoComplete="off"
        placeholder="none"
        {...inputProps(props)}
        {...field}
      />
      {changedElsewhere && <ChangedElsewhere {...props} />}
    </>
  );
}

function LinesField(props: SettingFieldProps) {
  const { field, changedElsewhere } = useTextDraft(props, true);
  return (
    <>
      <textarea
        className={classNames(styles.text, styles.mono)}
        rows={Math.min(10, Math.max(2, field.value.split("\n").length))}
        spellCheck={false}
        placeholder={props.setting.kind === "table" ? "{}" : "none; one per line"}
        {...inputProps(props)}
        {...field}
      />
      {changedElsewhere && <ChangedElsewhere {...props} />}
    </>
  );
}

function SwitchField(props: SettingFieldProps) {
  return (
    <input
      type="checkbox"
      role="switch"
      aria-checked={props.value === true}
      className={styles.switch}
      checked={props.value === true}
      onChange={(event) => void props.save(event.target.checked)}
      {...inputProps(props)}
    />
  );
}

function RadioField(props: SettingFieldProps) {
  const { setting, value, save } = props;
  const meanings = CHOICE_MEANINGS[setting.name];
  return (
    <div
      role="radiogroup"
      className={classNames(styles.radios, meanings && styles.column)}
      {...groupProps(props)}
    >
      {setting.choices.map((choice) => (
        <label key={choice} className={styles.option}>
          <input
            type="radio"
            name={props.labelledBy}
            checked={value === choice}
            disabled={props.disabled}
            onChange={() => void save(choice)}
          />
          <span>
            {choice}
            {meanings && <span className={styles.meaning}> {meanings[choice]}</span>}
          </span>
        </label>
      ))}
    </div>
  );
}

function SelectField(props: SettingFieldProps) {
  return (
    <Select
      className={styles.narrow ?? ""}
      options={props.setting.choices.map((choice) => [choice, choice])}
      value={String(props.value)}
      onSelect={(choice) => void props.save(choice)}
      {...inputProps(props)}
    />
  );
}

function ChecksField(props: SettingFieldProps) {
  const { setting, value, save } = props;
  const selected = Array.isArray(value) ? value : [];
  return (
    <fieldset className={classNames(styles.radios, styles.plain)} {...groupProps(props)}>
      {setting.choices.map((choice) => (
        <label key={choice} className={styles.option}>
          <input
            type="checkbox"
            checked={selected.includes(choice)}
            disabled={props.disabled}
            onChange={({ target: { checked } }) =>
              void save((known) => toggleChoice(known, choice, checked, setting.choices))
            }
          />
          {choice.replaceAll("_", " ")}
        </label>
      ))}
    </fieldset>
  );
}

/** A slider from one to ten, and a number field for anything else. */
function SliderField(props: SettingFieldProps) {
  const { value, save, labelledBy } = props;
  const current = typeof value === "number" ? Math.min(10, Math.max(1, value)) : 4;
  const [dragged, setDragged] = useState<number | null>(null);
  const commit = () => {
    if (dragged !== null && dragged !== value) void save(dragged).then(() => setDragged(null));
    else setDragged(null);
  };
  return (
    <div className={styles.slider}>
      <input
        type="range"
        min={1}
        max={10}
        value={dragged ?? current}
        aria-labelledby={labelledBy}
        aria-valuetext={dragged === null && current !== value ? `${value}, outside of 1 to 10` : undefined}
        disabled={props.disabled}
        onChange={({ target }) => setDragged(Number(target.value))}
        onPointerUp={commit}
        onKeyUp={commit}
        onBlur={commit}
      />
      {dragged !== null ? <output className={styles.dragged}>{dragged}</output> : <TextField {...props} />}
    </div>
  );
}

interface FieldDraft {
  readonly text: string;
  /** The value when editing began. */
  readonly original: string;
}

interface FieldDraftOptions {
  /** True: it was saved, and the field shows the saved value. */
  commit(text: string): Promise<boolean>;
  cancel(): void;
  /** Enter inserts a line break; Mod+Enter commits. */
  multiline?: boolean;
}

/** Typed text is kept until it is committed or discarded with Escape, even if the value changes elsewhere. */
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
    /** The value was changed elsewhere. */
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
