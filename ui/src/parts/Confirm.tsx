/* Asked before something that can't be taken back. */

import { create } from "zustand";
import { Button } from "./Button";
import { Dialog } from "./Dialog";

interface Question {
  title: string;
  text: string;
  /** What the button says: the verb, not "OK". */
  action: string;
  danger?: boolean;
}

const useQuestion = create<{ asked: (Question & { answer(yes: boolean): void }) | null }>(() => ({
  asked: null,
}));

/** True: the person has said so. */
export function confirm(question: Question): Promise<boolean> {
  return new Promise((resolve) => {
    const answer = (yes: boolean) => {
      useQuestion.setState({ asked: null });
      resolve(yes);
    };
    useQuestion.getState().asked?.answer(false);
    useQuestion.setState({ asked: { ...question, answer } });
  });
}

export function Confirm() {
  const asked = useQuestion((store) => store.asked);
  if (asked === null) return null;
  return (
    <Dialog
      title={asked.title}
      size="small"
      onClose={() => asked.answer(false)}
      actions={
        <>
          <Button onClick={() => asked.answer(false)}>Keep it as it is</Button>
          <Button kind={asked.danger ? "danger" : "primary"} onClick={() => asked.answer(true)}>
            {asked.action}
          </Button>
        </>
      }
    >
      <p>{asked.text}</p>
    </Dialog>
  );
}
