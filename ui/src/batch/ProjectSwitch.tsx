import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation, useSearchParams } from "wouter";
import { api, told } from "../api/client";
import type { Project } from "../api/types";
import { useMayNot } from "../app/me";
import { Button } from "../parts/Button";
import { confirm } from "../parts/Confirm";
import { classes } from "../parts/classes";
import { Failure, Loading } from "../parts/Empty";
import { Icon } from "../parts/Icon";
import { Popover } from "../parts/Popover";
import { say, sayError } from "../parts/Toasts";
import { AddProject } from "./AddProject";
import styles from "./ProjectSwitch.module.css";

const KEY = ["projects"];

/** Which repository is looked at, and the way to others. */
export function ProjectSwitch() {
  const { data, error, refetch } = useProjects();
  const [search] = useSearchParams();
  const [, navigate] = useLocation();
  const [adding, setAdding] = useState(false);
  const queries = useQueryClient();
  const said = search.get("project");
  const current = data?.find(({ id, default: served }) => (said === null ? served : id === said));
  const go = ({ id, default: served }: Project) =>
    navigate(served ? "/" : `/?${new URLSearchParams({ project: id })}`);
  return (
    <>
      <Popover
        name="Projects"
        kind="quiet"
        className={styles.switch ?? ""}
        button={
          <>
            <span className={styles.current}>{current?.name ?? said ?? "plait"}</span>
            <Icon name="chevron" size={12} />
          </>
        }
      >
        {(close) => (
          <>
            {error && <Failure error={error} again={() => void refetch()} />}
            {!error && data === undefined && <Loading what="Reading the projects" />}
            <ul className={styles.projects}>
              {data?.map((project) => (
                <Entry
                  key={project.id}
                  project={project}
                  current={project === current}
                  onChoose={() => {
                    close();
                    go(project);
                  }}
                  onRemoved={() => {
                    void queries.invalidateQueries({ queryKey: KEY });
                    if (project === current) navigate("/");
                  }}
                />
              ))}
            </ul>
            <Add
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
            void queries.invalidateQueries({ queryKey: KEY });
            go(project);
          }}
        />
      )}
    </>
  );
}

function useProjects() {
  return useQuery({
    queryKey: KEY,
    queryFn: async ({ signal }) => (await told(api.GET("/api/projects", { signal }))).projects,
  });
}

function Add({ onPress }: { onPress(): void }) {
  const mayNot = useMayNot();
  return (
    <Button kind="quiet" className={styles.add ?? ""} disabled={mayNot} onClick={onPress}>
      <Icon name="plus" />
      Add a project
    </Button>
  );
}

interface EntryProps {
  project: Project;
  current: boolean;
  onChoose(): void;
  onRemoved(): void;
}

function Entry({ project, current, onChoose, onRemoved }: EntryProps) {
  const mayNot = useMayNot();
  const { name, path, url } = project;
  return (
    <li className={styles.project}>
      <button
        type="button"
        className={classes(styles.choose, current && styles.chosen)}
        aria-current={current || undefined}
        onClick={onChoose}
      >
        <span>{name}</span>
        <span className={styles.where}>{url ?? path}</span>
      </button>
      {!project.default && (
        <Button
          kind="quiet"
          icon
          label={`Remove ${name}`}
          disabled={mayNot}
          onClick={() => void remove(project).then((done) => done && onRemoved())}
        >
          <Icon name="close" />
        </Button>
      )}
    </li>
  );
}

async function remove({ id, name }: Project): Promise<boolean> {
  const yes = await confirm({
    title: `Remove ${name} from this list?`,
    text: "The server forgets it. Nothing is deleted, and what runs there goes on. It can be added again.",
    action: "Remove it",
  });
  if (!yes) return false;
  try {
    await told(api.DELETE("/api/projects/{project_id}", { params: { path: { project_id: id } } }));
    say(`Removed ${name}`);
    return true;
  } catch (error) {
    sayError(error);
    return false;
  }
}
