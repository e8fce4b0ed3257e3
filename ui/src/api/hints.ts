/* The server's hints are written for a terminal: what the page has buttons for is left out. Pure. */

const COMMAND =
  "`?plait (?:approve|cancel|diff|drop|explain|logs|plan|pr|recheck|resume|retry|run|status|unpause)\\b";
const AFTER_COLON = new RegExp(`: ${COMMAND}[^.\`;]*\`?`, "g");
const IN_SENTENCE = new RegExp(COMMAND);

/** `Or cancel it: plait cancel 7f3a.` is `Or cancel it.`; a sentence around a command goes. */
export function omitCommands(hint: string | null): string | null {
  const sentences = (hint ?? "")
    .replace(AFTER_COLON, "")
    .split(/(?<=\.) /)
    .filter((sentence) => !IN_SENTENCE.test(sentence));
  return sentences.join(" ") || null;
}
