/* The API client. A refused request throws ApiError with the server's message. */

import createClient, { createQuerySerializer } from "openapi-fetch";
import { currentProject } from "../app/routes";
import type { paths } from "./schema";
import type { ErrorBody, FieldProblem } from "./types";

export class ApiError extends Error {
  readonly status: number;
  readonly hint: string | null;
  readonly field: string | null;
  readonly state: string | null;
  readonly problems: readonly FieldProblem[];

  constructor(status: number, body: Partial<ErrorBody>) {
    super(body.error ?? `the server returned ${status}`);
    this.name = "Refused";
    this.status = status;
    this.hint = body.hint ?? null;
    this.field = body.field ?? null;
    this.state = body.state ?? null;
    this.problems = body.problems ?? [];
  }
}

/** The server can't be reached: it may have ended, or the network is gone. */
export class UnreachableError extends Error {
  constructor() {
    super("the server is not responding");
    this.name = "Unreachable";
  }
}

const serializeQuery = createQuerySerializer();

/** Every request is for the project in the URL. It is added to the query, since a request with a body can't be rebuilt. */
export const api = createClient<paths>({
  baseUrl: "",
  credentials: "same-origin",
  querySerializer: (query) => {
    const project = currentProject();
    return serializeQuery(project === null ? query : { project, ...query });
  },
});

api.use({
  onError() {
    return new UnreachableError();
  },
});

export type ApiResponse<T> = { data?: T; error?: unknown; response: Response };

/** The data of a response. Throws ApiError or UnreachableError. */
export async function unwrap<T>(request: Promise<ApiResponse<T>>): Promise<T> {
  const { data, error, response } = await request;
  if (response.ok) return data as T;
  throw new ApiError(response.status, isErrorBody(error) ? error : {});
}

function isErrorBody(value: unknown): value is Partial<ErrorBody> {
  return typeof value === "object" && value !== null && "error" in value;
}

/** A message for the user, and a hint. */
export function describeError(error: unknown): { message: string; hint: string | null } {
  if (error instanceof ApiError) return { message: error.message, hint: omitCommands(error.hint) };
  if (error instanceof UnreachableError)
    return { message: "The server is not responding.", hint: "Start it with: plait serve" };
  return { message: error instanceof Error ? error.message : String(error), hint: null };
}

/* The server's hints are written for a terminal: what the page has buttons for is left out. */
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
