import { type Command, useCommandRegistry } from "../commands/commands";
import { Dialog } from "../components/Dialog";
import { Kbd } from "../components/Kbd";
import styles from "./ShortcutHelp.module.css";

/** All shortcuts that are available now. */
export function ShortcutHelp({ onClose }: { onClose(): void }) {
  const commands = useCommandRegistry((store) => store.commands);
  return (
    <Dialog title="Keyboard shortcuts" size="large" textOnly onClose={onClose}>
      <div className={styles.groups}>
        {groupCommands(commands.values()).map(([group, mine]) => (
          <section key={group} className={styles.section} aria-label={group}>
            <h3>{group}</h3>
            <dl>
              {mine.map(({ id, title, keys }) => (
                <div key={id} className={styles.shortcut}>
                  <dt>{title}</dt>
                  <dd>
                    {(keys ?? []).map((each) => (
                      <Kbd key={each} keys={each} />
                    ))}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
      <p className={styles.footer}>
        <Kbd keys="Mod+K" /> finds everything, including commands without a shortcut.
      </p>
    </Dialog>
  );
}

function groupCommands(commands: Iterable<Command>): readonly (readonly [string, readonly Command[]])[] {
  const groups = new Map<string, Command[]>();
  for (const command of commands) {
    if (command.keys === undefined || command.keys.length === 0) continue;
    groups.set(command.group, [...(groups.get(command.group) ?? []), command]);
  }
  return [...groups].sort(([a], [b]) => a.localeCompare(b));
}
