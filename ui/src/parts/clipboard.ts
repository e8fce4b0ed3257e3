import { say, sayError } from "./Toasts";

/** Says what was copied, or that it could not be. */
export async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    say(`Copied ${what}`);
  } catch {
    sayError(new Error("The browser does not let this page copy: select the text and copy it yourself."));
  }
}
