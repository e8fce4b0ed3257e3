import { type ReactNode, useId } from "react";
import { useReadOnlyReason } from "../app/access";
import { Button } from "../components/Button";
import { Icon } from "../components/Icon";
import { settingTitle } from "./commonSettings";
import { hasOneField, SettingField, type SettingFieldProps } from "./SettingField";
import styles from "./SettingRow.module.css";
import { type SaveResult, type SettingEntry, useSave } from "./useSettings";
import { describeSource, summarizeValue } from "./values";

interface Props {
  readonly entry: SettingEntry;
  /** Replaces the default field of its kind. */
  readonly renderField?: (props: SettingFieldProps) => ReactNode;
}

/** One setting: help text, value, origin, and the result of a change. */
export function SettingRow({ entry, renderField }: Props) {
  const { setting, value, given } = entry;
  const title = settingTitle(setting);
  const id = useId();
  const readOnlyReason = useReadOnlyReason();
  const { result, save, refuse, cancel } = useSave(setting.name);
  const props: SettingFieldProps = {
    setting,
    value,
    id: `${id}field`,
    labelledBy: `${id}name`,
    describedBy: `${id}details`,
    disabled: readOnlyReason !== null,
    refused: result.state === "refused",
    save,
    refuse,
    giveUp: cancel,
  };
  const hasLabel = setting.canBeSaved && renderField === undefined && hasOneField(setting);
  return (
    <div className={styles.row} data-setting={setting.name}>
      <div className={styles.description}>
        <h3 id={`${id}name`}>{hasLabel ? <label htmlFor={props.id}>{title}</label> : title}</h3>
        <p className={styles.about}>{setting.about}</p>
        <p className={styles.names}>
          {[setting.key, setting.flag, setting.variable].map(
            (name) => name && <code key={name}>{name}</code>,
          )}
        </p>
      </div>
      <div className={styles.side}>
        {setting.canBeSaved ? (
          renderField === undefined ? (
            <SettingField {...props} />
          ) : (
            renderField(props)
          )
        ) : (
          <ReadOnlyValue entry={entry} />
        )}
        <div id={`${id}details`} className={styles.details}>
          <SettingSource entry={entry} />
          {given.saved && (
            <Button
              kind="quiet"
              className={styles.reset}
              disabled={readOnlyReason}
              busy={result.state === "saving"}
              label={`Reset ${title}`}
              onClick={() => void save(null)}
            >
              Reset
            </Button>
          )}
          <SaveStatus outcome={result} />
        </div>
      </div>
    </div>
  );
}

function SettingSource({ entry: { setting, given } }: { entry: SettingEntry }) {
  if (given.problem !== null) return <span className={styles.error}>{given.problem}</span>;
  const from = describeSource(given);
  return (
    <span className={styles.source}>
      {given.hidden ? `Saved here, but overridden by ${from}` : `From: ${from}`}
      {given.layer === "environment" &&
        !given.hidden &&
        setting.canBeSaved &&
        ", which overrides the saved value"}
    </span>
  );
}

/** A setting that may hold a secret: shown as far as the server reveals it, never saved here. */
function ReadOnlyValue({ entry: { setting, value } }: { entry: SettingEntry }) {
  return (
    <div>
      <p className={styles.readOnlyValue}>{summarizeValue(setting.kind, value)}</p>
      <p className={styles.about}>
        Can't be saved here because it may contain a secret. Set it in your own config.toml or in the
        environment.
      </p>
    </div>
  );
}

function SaveStatus({ outcome }: { outcome: SaveResult }): ReactNode {
  return (
    <div role="status" className={styles.saveStatus}>
      {outcome.state === "saving" && <span className={styles.source}>Saving</span>}
      {outcome.state === "saved" && (
        <>
          <span className={styles.ok}>
            <Icon name="check" size={14} />
            {outcome.accepted ? "Saved. It takes effect once an engine picks it up." : "Saved"}
          </span>
          {outcome.notes.map(({ message, hint }) => (
            <p key={message} className={styles.note}>
              {message}
              {hint && ` ${hint}`}
            </p>
          ))}
        </>
      )}
      {outcome.state === "refused" && (
        <p className={styles.error}>
          {outcome.message}
          {outcome.hint && ` ${outcome.hint}`}
        </p>
      )}
    </div>
  );
}
