import { showError, showToast } from "./Toasts";

/** Says what was copied, or that it could not be. */
export async function copyToClipboard(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    showToast(`Copied ${what}`);
  } catch {
    showError(new Error("The browser does not let this page copy: select the text and copy it yourself."));
  }
}
