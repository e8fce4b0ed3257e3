/* A field for each kind of setting. Each commits once: by Enter, by leaving it, or by a press. */

import { type ReactNode, useState } from "react";
import type { Setting } from "../api/types";
import { classes } from "../parts/classes";
import { MEANINGS } from "./common";
import styles from "./fields.module.css";
import { useDraft } from "./useDraft";
import type { Change } from "./useSettings";
import { read, textOf, toggled, type Value } from "./values";

export interface FieldProps {
  readonly setting: Setting;
  readonly value: Value;
  /** Of the field itself, of the words that name it, and of those that say more: source, problem. */
  readonly id: string;
  readonly labelledBy: string;
  readonly describedBy: string;
  readonly disabled: boolean;
  readonly refused: boolean;
  /** True: it was saved. */
  save(value: Change): Promise<boolean>;
  /** What can't even be sent. */
  refuse(message: string): void;
  giveUp(): void;
}

const FEW = 4; // choices that are all shown

export function Field(props: FieldProps): ReactNode {
  const { kind, name, choices } = props.setting;
  if (name === "maxBatchSize") return <SliderField {...props} />;
  switch (kind) {
    case "switch":
      return <SwitchField {...props} />;
    case "choice":
      return choices.length <= FEW ? <RadioField {...props} /> : <SelectField {...props} />;
    case "choices":
      return <ChecksField {...props} />;
    case "list":
    case "table":
      return <LinesField {...props} />;
    default:
      return <TextField {...props} />;
  }
}

/** Settings of these kinds have one field, which a label can point to; the others are groups of them. */
export function hasOneField({ kind, choices }: Setting): boolean {
  return kind !== "choices" && (kind !== "choice" || choices.length > FEW);
}

function one({ id, describedBy, disabled, refused }: FieldProps) {
  return { id, "aria-describedby": describedBy, "aria-invalid": refused || undefined, disabled };
}

function group({ labelledBy, describedBy }: FieldProps) {
  return { "aria-labelledby": labelledBy, "aria-describedby": describedBy };
}

function useText(props: FieldProps, lines: boolean) {
  const { setting, value, save, refuse, giveUp } = props;
  const commit = async (text: string) => {
    let typed: Value;
    try {
      typed = read(setting.kind, text);
    } catch {
      refuse(`This is not JSON of a table. It must be ${setting.allowed}.`);
      return false;
    }
    return save(typed);
  };
  return useDraft(textOf(setting.kind, value), { commit, giveUp, lines });
}

function Overtaken({ value, setting }: FieldProps) {
  const now = textOf(setting.kind, value) || "none";
  return <p className={styles.overtaken}>Changed elsewhere meanwhile, to {now}. Escape takes that.</p>;
}

const NARROW: ReadonlySet<string> = new Set(["number", "duration", "size", "amount"]);

function TextField(props: FieldProps) {
  const { field, overtaken } = useText(props, false);
  const narrow = NARROW.has(props.setting.kind);
  return (
    <>
      <input
        type="text"
        className={classes(styles.text, narrow && styles.narrow, !narrow && styles.mono)}
        spellCheck={false}
        autoComplete="off"
        placeholder="none"
        {...one(props)}
        {...field}
      />
      {overtaken && <Overtaken {...props} />}
    </>
  );
}

function LinesField(props: FieldProps) {
  const { field, overtaken } = useText(props, true);
  return (
    <>
      <textarea
        className={classes(styles.text, styles.mono)}
        rows={Math.min(10, Math.max(2, field.value.split("\n").length))}
        spellCheck={false}
        placeholder={props.setting.kind === "table" ? "{}" : "none; one per line"}
        {...one(props)}
        {...field}
      />
      {overtaken && <Overtaken {...props} />}
    </>
  );
}

function SwitchField(props: FieldProps) {
  return (
    <input
      type="checkbox"
      role="switch"
      aria-checked={props.value === true}
      className={styles.switch}
      checked={props.value === true}
      onChange={(event) => void props.save(event.target.checked)}
      {...one(props)}
    />
  );
}

function RadioField(props: FieldProps) {
  const { setting, value, save } = props;
  const meanings = MEANINGS[setting.name];
  return (
    <div role="radiogroup" className={classes(styles.radios, meanings && styles.column)} {...group(props)}>
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

function SelectField(props: FieldProps) {
  return (
    <select
      className={classes(styles.text, styles.narrow)}
      value={String(props.value)}
      onChange={(event) => void props.save(event.target.value)}
      {...one(props)}
    >
      {props.setting.choices.map((choice) => (
        <option key={choice}>{choice}</option>
      ))}
    </select>
  );
}

function ChecksField(props: FieldProps) {
  const { setting, value, save } = props;
  const chosen = Array.isArray(value) ? value : [];
  return (
    <fieldset className={classes(styles.radios, styles.plain)} {...group(props)}>
      {setting.choices.map((choice) => (
        <label key={choice} className={styles.option}>
          <input
            type="checkbox"
            checked={chosen.includes(choice)}
            disabled={props.disabled}
            onChange={({ target: { checked } }) =>
              void save((known) => toggled(known, choice, checked, setting.choices))
            }
          />
          {choice.replaceAll("_", " ")}
        </label>
      ))}
    </fieldset>
  );
}

/** One to ten by hand, and anything else by number. */
function SliderField(props: FieldProps) {
  const { value, save, labelledBy } = props;
  const known = typeof value === "number" ? Math.min(10, Math.max(1, value)) : 4;
  const [drawn, setDrawn] = useState<number | null>(null);
  const done = () => {
    if (drawn !== null && drawn !== value) void save(drawn).then(() => setDrawn(null));
    else setDrawn(null);
  };
  return (
    <div className={styles.slider}>
      <input
        type="range"
        min={1}
        max={10}
        value={drawn ?? known}
        aria-labelledby={labelledBy}
        aria-valuetext={drawn === null && known !== value ? `${value}, outside of 1 to 10` : undefined}
        disabled={props.disabled}
        onChange={({ target }) => setDrawn(Number(target.value))}
        onPointerUp={done}
        onKeyUp={done}
        onBlur={done}
      />
      {drawn !== null ? <output className={styles.drawn}>{drawn}</output> : <TextField {...props} />}
    </div>
  );
}
