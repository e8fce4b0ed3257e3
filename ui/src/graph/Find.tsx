import { useRef, useState } from "react";
import { useCommands } from "../commands/commands";
import { count } from "../model/format";
import { Icon } from "../parts/Icon";
import type { GraphNode } from "./elements";
import styles from "./GraphView.module.css";
import { lookAt, useLooking } from "./looking";
import { matching } from "./matching";

/** Marks the tasks that a word is in; Enter goes from one to the next. */
export function Find({ nodes }: { nodes: readonly GraphNode[] }) {
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState("");
  const found = useLooking((looking) => looking.found);
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
    lookAt({ found: words.trim() === "" ? null : new Set(matching(nodes, words)) });
  };
  const next = () => {
    const ids = [...(found ?? [])];
    const at = ids.indexOf(useLooking.getState().current ?? "");
    const id = ids[(at + 1) % ids.length];
    if (id !== undefined) lookAt({ current: id, over: id });
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
        {found === null ? "" : found.size === 0 ? "no task" : count(found.size, "task")}
      </span>
    </search>
  );
}
