/* Asks before an action that can't be undone. */

import { create } from "zustand";
import { spellOutBidi } from "../model/format";
import { Button } from "./Button";
import { Dialog } from "./Dialog";

interface ConfirmRequest {
  title: string;
  text: string;
  /** The button's label: a verb, not "OK". */
  action: string;
  danger?: boolean;
}

const useConfirmRequest = create<{ request: (ConfirmRequest & { answer(yes: boolean): void }) | null }>(
  () => ({
    request: null,
  }),
);

/** True if the user confirmed. */
export function confirm(question: ConfirmRequest): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (yes: boolean) => {
      useConfirmRequest.setState({ request: null });
      resolve(yes);
    };
    useConfirmRequest.getState().request?.answer(false);
    useConfirmRequest.setState({ request: { ...question, answer } });
  });
}

export function ConfirmDialog() {
  const request = useConfirmRequest((store) => store.request);
  if (request === null) return null;
  return (
    <Dialog
      title={request.title}
      size="small"
      onClose={() => request.answer(false)}
      actions={
        <>
          <Button onClick={() => request.answer(false)}>Go back</Button>
          <Button kind={request.danger ? "danger" : "primary"} onClick={() => request.answer(true)}>
            {request.action}
          </Button>
        </>
      }
    >
      <p>{spellOutBidi(request.text)}</p>
    </Dialog>
  );
}
