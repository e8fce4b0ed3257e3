import { useState } from "react";
import type { WholeTask } from "../api/types";
import { Button } from "../parts/Button";
import { confirm } from "../parts/Confirm";
import { clashes, type Draft, type Field, spelt } from "./draft";
import styles from "./Editor.module.css";
import { baseOf, type Editing } from "./useEditing";

/** Somebody else was quicker. Nothing of mine is lost: I see theirs, and say what becomes of it. */
export function Changed({ editing, theirs }: { editing: Editing; theirs: WholeTask }) {
  const [compares, setCompares] = useState(false);
  const now = baseOf(theirs);
  const asText = editing.mode === "text";
  const both = asText ? [] : clashes(editing.base.draft, editing.draft, now.draft);
  const fits = !asText && both.length === 0;
  const take = async () => {
    const sure = await confirm({
      title: "Load their version?",
      text: "What you wrote here is given up for it.",
      action: "Load theirs",
      danger: true,
    });
    if (sure) editing.takeTheirs();
  };
  return (
    <section className={styles.changed} aria-label="Changed by somebody else">
      <p role="alert">
        <strong>Somebody else has changed this task meanwhile.</strong> Nothing was saved, and what you wrote
        is kept. {fits && "You have changed different fields: both fit together."}
      </p>
      <div className={styles.choices}>
        <Button kind="primary" onClick={editing.putIntoTheirs}>
          {fits ? "Put mine into theirs" : "Go on with mine"}
        </Button>
        <Button onClick={() => void take()}>Load theirs</Button>
        <Button aria-expanded={compares} onClick={() => setCompares(!compares)}>
          Compare
        </Button>
      </div>
      {compares && asText && <Pair name="File" mine={editing.text} theirs={now.text ?? ""} />}
      {compares && !asText && <Fields mine={editing.draft} theirs={now.draft} />}
    </section>
  );
}

function Fields({ mine, theirs }: { mine: Draft; theirs: Draft }) {
  const fields = (Object.keys(mine) as Field[]).filter(
    (field) => spelt(mine, field) !== spelt(theirs, field),
  );
  if (fields.length === 0) return <p>Both say the same.</p>;
  return fields.map((field) => (
    <Pair key={field} name={field} mine={spelt(mine, field)} theirs={spelt(theirs, field)} />
  ));
}

function Pair({ name, mine, theirs }: { name: string; mine: string; theirs: string }) {
  return (
    <div className={styles.compared}>
      <figure>
        <figcaption>{name}, yours</figcaption>
        <pre dir="auto">{mine}</pre>
      </figure>
      <figure>
        <figcaption>{name}, theirs</figcaption>
        <pre dir="auto">{theirs}</pre>
      </figure>
    </div>
  );
}
