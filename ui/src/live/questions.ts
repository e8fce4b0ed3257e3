/* What the server is asked about the board, and what becomes of its answers.

   Law: questions are asked one after another, and of events and answers the newer counts: the board never goes back. */

import { type Answer, api, told } from "../api/client";
import type { PlaitEvent } from "../api/types";
import { type Board, hear, read, standing } from "../model/board";
import { useBoard } from "../store/board";
import { Answers, earlier } from "./answers";
import { named } from "./dirt";

const NEWEST = 50; // batches, and whatever older ones are open

export class Questions {
  private turn: Promise<unknown> = Promise.resolve();
  private meanwhile: PlaitEvent[] = [];
  private readonly answers = new Answers();

  constructor(private readonly signal: AbortSignal) {}

  /** What events say by themselves. */
  hear(events: readonly PlaitEvent[]): void {
    this.meanwhile.push(...events);
    const news = this.answers.news(events);
    useBoard.setState(({ board }) => ({ board: hear(board, news) }));
  }

  /** The journal is another one, whose records have other numbers. */
  forget(): void {
    this.answers.forget();
  }

  /** Everything. Gives the mark from which on nothing is missed. */
  async readAll(): Promise<string> {
    const { signal } = this;
    const query = { tasks: false, limit: NEWEST, open: true };
    const [, , since] = await this.question(
      async () => {
        const [tasks, heads] = await Promise.all([
          marked(api.GET("/api/tasks", { signal })),
          marked(api.GET("/api/batches", { signal, params: { query } })),
        ]);
        this.answers.all(tasks.mark, heads.mark);
        return [tasks.told, heads.told, earlier(tasks.mark, heads.mark)] as const;
      },
      (board, [{ tasks, problems }, { batches }]) => read(board, tasks, problems, batches),
    );
    if (!signal.aborted) useBoard.setState({ loaded: true, failure: null });
    return since;
  }

  /** Where these tasks of a batch stand now. */
  async standing(batchId: string, tasks: ReadonlySet<string>): Promise<void> {
    const { signal } = this;
    const params = { path: { batch_id: batchId }, query: { task: named(tasks) } };
    await this.question(
      async () => {
        const { told, mark } = await marked(api.GET("/api/batches/{batch_id}/standing", { signal, params }));
        const runs = told.tasks.map(({ taskId }) => taskId);
        this.answers.part(batchId, runs, mark);
        return told;
      },
      (board, { batch, tasks: runs }) => standing(board, batch, runs),
    );
  }

  /** What is heard meanwhile, and the answer does not know, is heard again on top of it. */
  private question<T>(ask: () => Promise<T>, make: (board: Board, told: T) => Board): Promise<T> {
    const asked = this.turn.then(async () => {
      this.meanwhile = [];
      const told = await ask();
      const heard = this.answers.news(this.meanwhile);
      if (!this.signal.aborted) useBoard.setState(({ board }) => ({ board: hear(make(board, told), heard) }));
      return told;
    });
    this.turn = asked.catch(() => undefined);
    return asked;
  }
}

/** An answer, and how far it goes. */
async function marked<T>(asked: Promise<Answer<T>>): Promise<{ told: T; mark: string }> {
  const answer = await told(asked);
  return { told: answer, mark: (await asked).response.headers.get("Plait-Mark") ?? "" };
}
