/* What to do next, without what the page has a button for. Pure. */

const WITH_BUTTONS = /^(?:then )?plait (?:retry|recheck|feedback|approve|cancel|diff|pr|unpause|logs) /;

/** `Retrying at 10:00; plait retry 7f3a roof retries it now.` is `Retrying at 10:00.` */
export function omitCommands(nextStep: string): string {
  const sentences = nextStep.split(/(?<=\.) /).map((sentence) => {
    const kept = sentence
      .replace(/\.$/, "")
      .split("; ")
      .filter((clause) => !WITH_BUTTONS.test(clause));
    return kept.length === 0 ? "" : `${kept.join("; ")}.`;
  });
  return sentences.filter(Boolean).join(" ");
}
