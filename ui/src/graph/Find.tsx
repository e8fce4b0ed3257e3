import { useRef, useState } from "react";
import { useCommands } from "../commands/commands";
import { pluralize } from "../model/format";
import { Icon } from "../parts/Icon";
import type { GraphNode } from "./elements";
import styles from "./GraphView.module.css";
import { setGraphFocus, useGraphFocus } from "./looking";
import { findTasks } from "./matching";

/** Marks the tasks that a word is in; Enter goes from one to the next. */
export function GraphFind({ nodes }: { nodes: readonly GraphNode[] }) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const matches = useGraphFocus((looking) => looking.matches);
  useCommands([
    {
      id: "graph.find",
      title: "Find a task in the graph",
      group: "Graph",
      keys: ["/"],
      run: () => input.current?.focus(),
    },
  ]);
  const search = (words: string) => {
    setText(words);
    setGraphFocus({ matches: words.trim() === "" ? null : new Set(findTasks(nodes, words)) });
  };
  const next = () => {
    const ids = [...(matches ?? [])];
    const at = ids.indexOf(useGraphFocus.getState().current ?? "");
    const id = ids[(at + 1) % ids.length];
    if (id !== undefined) setGraphFocus({ current: id, hovered: id });
  };
  return (
    <search className={styles.find}>
      <Icon name="search" size={14} />
      <input
        ref={input}
        type="search"
        aria-label="Find a task"
        placeholder="Find a task"
        value={text}
        onChange={(event) => search(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter") next();
          else if (event.key === "Escape") text === "" ? input.current?.blur() : search("");
          else return;
          event.preventDefault();
        }}
      />
      <span className={styles.found} role="status">
        {matches === null ? "" : matches.size === 0 ? "no task" : pluralize(matches.size, "task")}
      </span>
    </search>
  );
}
