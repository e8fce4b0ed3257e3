import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { ApiError, api, describeError, unwrap } from "../api/client";
import { useProjects } from "../api/queries";
import type { Project } from "../api/types";
import { useReadOnlyReason } from "../app/access";
import { Button } from "../components/Button";
import { confirm } from "../components/ConfirmDialog";
import { classNames } from "../components/classNames";
import { Dialog } from "../components/Dialog";
import { ErrorState, LoadingState } from "../components/EmptyState";
import { Icon } from "../components/Icon";
import { Popover } from "../components/Popover";
import { showError, showToast } from "../components/Toasts";
import styles from "./ProjectSwitcher.module.css";

/** The current project, and a menu with the others. */
export function ProjectSwitcher() {
  const { data, error, refetch } = useProjects();
  const [search] = useSearchParams();
  const [, navigate] = useLocation();
  const [adding, setAdding] = useState(false);
  const queries = useQueryClient();
  const requested = search.get("project");
  const current = data?.find(({ id, default: served }) => (requested === null ? served : id === requested));
  const openProject = ({ id, default: served }: Project) =>
    navigate(served ? "/" : `/?${new URLSearchParams({ project: id })}`);
  return (
    <>
      <Popover
        name="Projects"
        kind="quiet"
        className={styles.switch ?? ""}
        button={
          <>
            <span className={styles.current}>{current?.name ?? requested ?? "plait"}</span>
            <Icon name="chevron" size={12} />
          </>
        }
      >
        {(close) => (
          <>
            {error && <ErrorState error={error} onRetry={() => void refetch()} />}
            {!error && data === undefined && <LoadingState what="Loading projects" />}
            <ul className={styles.projects}>
              {data?.map((project) => (
                <ProjectItem
                  key={project.id}
                  project={project}
                  current={project === current}
                  onSelect={() => {
                    close();
                    openProject(project);
                  }}
                  onRemoved={() => {
                    void queries.invalidateQueries({ queryKey: ["projects"] });
                    if (project === current) navigate("/");
                  }}
                />
              ))}
            </ul>
            <AddButton
              onPress={() => {
                close();
                setAdding(true);
              }}
            />
          </>
        )}
      </Popover>
      {adding && (
        <AddProject
          onClose={() => setAdding(false)}
          onAdded={(project) => {
            setAdding(false);
            void queries.invalidateQueries({ queryKey: ["projects"] });
            openProject(project);
          }}
        />
      )}
    </>
  );
}

function AddButton({ onPress }: { onPress(): void }) {
  const readOnlyReason = useReadOnlyReason();
  return (
    <Button kind="quiet" className={styles.add ?? ""} disabled={readOnlyReason} onClick={onPress}>
      <Icon name="plus" />
      Add a project
    </Button>
  );
}

interface ProjectItemProps {
  project: Project;
  current: boolean;
  onSelect(): void;
  onRemoved(): void;
}

function ProjectItem({ project, current, onSelect, onRemoved }: ProjectItemProps) {
  const readOnlyReason = useReadOnlyReason();
  const { name, path, url } = project;
  return (
    <li className={styles.project}>
      <button
        type="button"
        className={classNames(styles.select, current && styles.selected)}
        aria-current={current || undefined}
        onClick={onSelect}
      >
        <span>{name}</span>
        <span className={styles.location}>{url ?? path}</span>
      </button>
      {!project.default && (
        <Button
          kind="quiet"
          icon
          label={`Remove ${name}`}
          disabled={readOnlyReason}
          onClick={() => void removeProject(project).then((done) => done && onRemoved())}
        >
          <Icon name="close" />
        </Button>
      )}
    </li>
  );
}

async function removeProject({ id, name }: Project): Promise<boolean> {
  const yes = await confirm({
    title: `Remove ${name} from this list?`,
    text: "This only removes it from the list. Nothing is deleted, running batches continue, and you can add it again.",
    action: "Remove",
  });
  if (!yes) return false;
  try {
    await unwrap(api.DELETE("/api/projects/{project_id}", { params: { path: { project_id: id } } }));
    showToast(`Removed ${name}`);
    return true;
  } catch (error) {
    showError(error);
    return false;
  }
}

interface Props {
  onClose(): void;
  onAdded(project: Project): void;
}

type FormError = { message: string; hint: string | null };

/** A repository by folder or URL: what looks like a path is a folder. */
function AddProject({ onClose, onAdded }: Props) {
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
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form="add-project" busy={busy}>
            {busy && !folder ? "Cloning" : "Add project"}
          </Button>
        </>
      }
    >
      <form id="add-project" className={styles.form} onSubmit={(event) => void add(event)}>
        <label htmlFor="project-where">Folder on the server, or URL</label>
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
              <p className={styles.error}>{error.message}</p>
              {error.hint && <p className={styles.muted}>{error.hint}</p>}
            </>
          ) : (
            <p className={styles.muted}>
              {busy && !folder
                ? "Cloning the repository. Large repositories take a while."
                : "For example ~/app or https://host/owner/app. plait clones a URL into its own mirror."}
            </p>
          )}
        </div>
      </form>
    </Dialog>
  );
}

const NO_LOCATION: FormError = { message: "Enter a folder or a URL.", hint: null };
