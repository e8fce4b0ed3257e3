import { type FormEvent, useState } from "react";
import { api, inWords, Refused, told } from "../api/client";
import type { Project } from "../api/types";
import { Button } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { say } from "../parts/Toasts";
import styles from "./ProjectSwitch.module.css";

interface Props {
  onClose(): void;
  onAdded(project: Project): void;
}

type Wrong = { message: string; hint: string | null };

/** A repository by its folder or its address: what looks like a folder is one. */
export function AddProject({ onClose, onAdded }: Props) {
  const [where, setWhere] = useState("");
  const [wrong, setWrong] = useState<Wrong | null>(null);
  const [busy, setBusy] = useState(false);
  const folder = /^[/~]/.test(where.trim());
  const add = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setWrong(null);
    try {
      const body = folder ? { path: where.trim() } : { url: where.trim() };
      const project = await told(api.POST("/api/projects", { body }));
      say(`Added ${project.name}`);
      onAdded(project);
    } catch (error) {
      setWrong(where.trim() === "" && error instanceof Refused ? EMPTY : inWords(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title="Add a project"
      size="small"
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Not now</Button>
          <Button kind="primary" type="submit" form="add-project" busy={busy}>
            {busy && !folder ? "Cloning" : "Add it"}
          </Button>
        </>
      }
    >
      <form id="add-project" className={styles.form} onSubmit={(event) => void add(event)}>
        <label htmlFor="project-where">Folder on the server's machine, or URL</label>
        <input
          id="project-where"
          value={where}
          autoComplete="off"
          spellCheck={false}
          aria-invalid={wrong !== null}
          aria-describedby="project-more"
          onChange={({ target }) => setWhere(target.value)}
        />
        <div id="project-more" aria-live="polite">
          {wrong ? (
            <>
              <p className={styles.wrong}>{wrong.message}</p>
              {wrong.hint && <p className={styles.soft}>{wrong.hint}</p>}
            </>
          ) : (
            <p className={styles.soft}>
              {busy && !folder
                ? "The repository is being cloned. That takes as long as it is large."
                : "~/app, or https://host/owner/app. A URL is cloned into a mirror of plait's own."}
            </p>
          )}
        </div>
      </form>
    </Dialog>
  );
}

const EMPTY: Wrong = { message: "Name a folder or a URL.", hint: null };
