import { type ReactNode, useId } from "react";
import { useMayNot } from "../app/me";
import { Button } from "../parts/Button";
import { Icon } from "../parts/Icon";
import { Field, type FieldProps, hasOneField } from "./fields";
import styles from "./SettingRow.module.css";
import { type Outcome, type Told, useSave } from "./useSettings";
import { sourceOf, wordsOf } from "./values";

interface Props {
  readonly told: Told;
  readonly title: ReactNode;
  /** In the place of the field that its kind has. */
  readonly draw?: (props: FieldProps) => ReactNode;
}

/** One setting: its words, its value, who gave it, and what became of a change. */
export function SettingRow({ told, title, draw }: Props) {
  const { setting, value, given } = told;
  const id = useId();
  const mayNot = useMayNot();
  const { outcome, save, refuse, giveUp } = useSave(setting.name);
  const props: FieldProps = {
    setting,
    value,
    id: `${id}field`,
    labelledBy: `${id}name`,
    describedBy: `${id}said`,
    disabled: mayNot !== null,
    refused: outcome.is === "refused",
    save,
    refuse,
    giveUp,
  };
  const labels = setting.canBeSaved && draw === undefined && hasOneField(setting);
  return (
    <div className={styles.row} data-setting={setting.name}>
      <div className={styles.words}>
        <h3 id={`${id}name`}>{labels ? <label htmlFor={props.id}>{title}</label> : title}</h3>
        <p className={styles.about}>{setting.about}</p>
      </div>
      <div className={styles.side}>
        {setting.canBeSaved ? draw === undefined ? <Field {...props} /> : draw(props) : <Kept told={told} />}
        <div id={`${id}said`} className={styles.said}>
          <Source told={told} />
          {given.saved && (
            <Button
              kind="quiet"
              className={styles.reset}
              disabled={mayNot}
              busy={outcome.is === "saving"}
              label={`Reset ${typeof title === "string" ? title : setting.key}`}
              onClick={() => void save(null)}
            >
              Reset
            </Button>
          )}
          <Became outcome={outcome} />
        </div>
      </div>
    </div>
  );
}

function Source({ told: { setting, given } }: { told: Told }) {
  if (given.problem !== null) return <span className={styles.bad}>{given.problem}</span>;
  const from = sourceOf(given);
  return (
    <span className={styles.source}>
      {given.hidden ? `Saved here, but ${from} says otherwise` : `From: ${from}`}
      {given.layer === "environment" &&
        !given.hidden &&
        setting.canBeSaved &&
        ", which counts before what is saved"}
    </span>
  );
}

/** What may hold a secret is told as far as the server tells it, and never saved. */
function Kept({ told: { setting, value } }: { told: Told }) {
  return (
    <div>
      <p className={styles.kept}>{wordsOf(setting.kind, value)}</p>
      <p className={styles.about}>
        Not saved here, since it may hold a secret. Set <code>{setting.key}</code> in your own config.toml, or{" "}
        <code>{setting.variable}</code>.
      </p>
    </div>
  );
}

function Became({ outcome }: { outcome: Outcome }): ReactNode {
  return (
    <div role="status" className={styles.became}>
      {outcome.is === "saving" && <span className={styles.source}>Saving</span>}
      {outcome.is === "saved" && (
        <>
          <span className={styles.good}>
            <Icon name="check" size={14} />
            {outcome.accepted ? "Saved. No engine has answered yet: it counts as soon as one does." : "Saved"}
          </span>
          {outcome.notes.map(({ message, hint }) => (
            <p key={message} className={styles.note}>
              {message}
              {hint && ` ${hint}`}
            </p>
          ))}
        </>
      )}
      {outcome.is === "refused" && (
        <p className={styles.bad}>
          {outcome.message}
          {outcome.hint && ` ${outcome.hint}`}
        </p>
      )}
    </div>
  );
}
