/* The one way to ask the server. What is refused is thrown as Refused, in the server's own words. */

import createClient, { createQuerySerializer } from "openapi-fetch";
import { projectInAddress } from "../app/address";
import type { paths } from "./schema";
import type { ErrorShape, Wrong } from "./types";

export class Refused extends Error {
  readonly status: number;
  readonly hint: string | null;
  readonly field: string | null;
  readonly state: string | null;
  readonly problems: readonly Wrong[];

  constructor(status: number, said: Partial<ErrorShape>) {
    super(said.error ?? `the server answered ${status}`);
    this.name = "Refused";
    this.status = status;
    this.hint = said.hint ?? null;
    this.field = said.field ?? null;
    this.state = said.state ?? null;
    this.problems = said.problems ?? [];
  }
}

/** The server can't be reached: it may have ended, or the network is gone. */
export class Unreachable extends Error {
  constructor() {
    super("the server does not answer");
    this.name = "Unreachable";
  }
}

const inQuery = createQuerySerializer();

/** Every question is about the project in the address. It is said with the address of the question, as a request with a body
    can't be made anew with another one. */
export const api = createClient<paths>({
  baseUrl: "",
  credentials: "same-origin",
  querySerializer: (query) => {
    const project = projectInAddress();
    return inQuery(project === null ? query : { project, ...query });
  },
});

api.use({
  onError() {
    return new Unreachable();
  },
});

export type Answer<T> = { data?: T; error?: unknown; response: Response };

/** What was answered. Throws Refused or Unreachable. */
export async function told<T>(asked: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await asked;
  if (response.ok) return data as T;
  throw new Refused(response.status, isError(error) ? error : {});
}

function isError(value: unknown): value is Partial<ErrorShape> {
  return typeof value === "object" && value !== null && "error" in value;
}

/** A sentence for a person, and what to do next. */
export function inWords(error: unknown): { message: string; hint: string | null } {
  if (error instanceof Refused) return { message: error.message, hint: error.hint };
  if (error instanceof Unreachable)
    return { message: "The server does not answer.", hint: "Start it again: plait serve." };
  return { message: error instanceof Error ? error.message : String(error), hint: null };
}
