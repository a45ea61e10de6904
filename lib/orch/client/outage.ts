/**
 * An outage of an API as one event. Many parts of a program ask the API, and all of them fail during an outage. The log
 * needs one line at the beginning and one line at the end.
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import type { ApiError } from "./api_error.ts";

/** The parts of a program without answers of an API. */
export class ApiOutage {
  readonly #away = new Set<object>();
  /** Number of parts that have been without an answer during the outage. */
  #parts = 0;

  /**
   * A part got no answer, or an answer that says that the API cannot answer now (`transient`). Logs a warning for the
   * first part of an outage.
   *
   * @param fields Fields of the log line: the part's question.
   */
  fails(part: object, error: ApiError, log: Pick<Logger, "warn"> | undefined, fields: object): void {
    const begins = this.#away.size === 0;
    if (this.#away.has(part)) return;
    this.#away.add(part);
    this.#parts = begins ? 1 : this.#parts + 1;
    if (!begins) return;
    const message = "the orchestrator does not answer; the known objects stay, and the server asks again";
    log?.warn(message, { ...fields, why: error.message });
  }

  /** A part got an answer. Logs a line when all parts have answers again. */
  works(part: object, log: Pick<Logger, "info"> | undefined, fields: object): void {
    if (!this.#away.delete(part) || this.#away.size > 0) return;
    log?.info("the orchestrator answers again", { ...fields, ...(this.#parts > 1 && { questions: this.#parts }) });
  }

  /** A part asks no more. */
  leaves(part: object): void {
    this.#away.delete(part);
  }
}

const outages = new WeakMap<object, ApiOutage>();

/** The outage of a client's API, shared by all users of the client. */
export function outageOf(client: object): ApiOutage {
  return outages.getOrInsertComputed(client, () => new ApiOutage());
}
