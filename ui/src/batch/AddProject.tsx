import { type FormEvent, useState } from "react";
import { ApiError, api, describeError, unwrap } from "../api/client";
import type { Project } from "../api/types";
import { Button } from "../parts/Button";
import { Dialog } from "../parts/Dialog";
import { showToast } from "../parts/Toasts";
import styles from "./ProjectSwitch.module.css";

interface Props {
  onClose(): void;
  onAdded(project: Project): void;
}

type FormError = { message: string; hint: string | null };

/** A repository by its folder or its address: what looks like a folder is one. */
export function AddProject({ onClose, onAdded }: Props) {
  const [location, setLocation] = useState("");
  const [error, setError] = useState<FormError | null>(null);
  const [busy, setBusy] = useState(false);
  const folder = /^[/~]/.test(location.trim());
  const add = async (event: FormEvent) => {
    event.preventDefault();
    if (busy) return;
    setBusy(true);
    setError(null);
    try {
      const body = folder ? { path: location.trim() } : { url: location.trim() };
      const project = await unwrap(api.POST("/api/projects", { body }));
      showToast(`Added ${project.name}`);
      onAdded(project);
    } catch (error) {
      setError(location.trim() === "" && error instanceof ApiError ? NO_LOCATION : describeError(error));
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
          value={location}
          autoComplete="off"
          spellCheck={false}
          aria-invalid={error !== null}
          aria-describedby="project-more"
          onChange={({ target }) => setLocation(target.value)}
        />
        <div id="project-more" aria-live="polite">
          {error ? (
            <>
              <p className={styles.wrong}>{error.message}</p>
              {error.hint && <p className={styles.soft}>{error.hint}</p>}
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

const NO_LOCATION: FormError = { message: "Name a folder or a URL.", hint: null };
