import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { api, unwrap } from "../api/client";
import type { Project } from "../api/types";
import { useReadOnlyReason } from "../app/me";
import { Button } from "../parts/Button";
import { confirm } from "../parts/Confirm";
import { classNames } from "../parts/classes";
import { ErrorState, LoadingState } from "../parts/Empty";
import { Icon } from "../parts/Icon";
import { Popover } from "../parts/Popover";
import { showError, showToast } from "../parts/Toasts";
import { AddProject } from "./AddProject";
import styles from "./ProjectSwitch.module.css";

const PROJECTS_KEY = ["projects"];

/** Which repository is looked at, and the way to others. */
export function ProjectSwitcher() {
  const { data, error, refetch } = useProjectList();
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
            {!error && data === undefined && <LoadingState what="Reading the projects" />}
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
                    void queries.invalidateQueries({ queryKey: PROJECTS_KEY });
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
            void queries.invalidateQueries({ queryKey: PROJECTS_KEY });
            openProject(project);
          }}
        />
      )}
    </>
  );
}

function useProjectList() {
  return useQuery({
    queryKey: PROJECTS_KEY,
    queryFn: async ({ signal }) => (await unwrap(api.GET("/api/projects", { signal }))).projects,
  });
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
        className={classNames(styles.choose, current && styles.chosen)}
        aria-current={current || undefined}
        onClick={onSelect}
      >
        <span>{name}</span>
        <span className={styles.where}>{url ?? path}</span>
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
    text: "The server forgets it. Nothing is deleted, and what runs there goes on. It can be added again.",
    action: "Remove it",
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
