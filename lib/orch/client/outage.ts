/**
 * An outage of an API as one event: many parts of a program ask the API, all of them fail while it is away, and people need
 * one line when that begins and one when it ends.
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import type { ApiError } from "./api_error.ts";

/** The parts of a program that get no answers of one API. */
export class ApiOutage {
  readonly #away = new Set<object>();
  /** Parts that were away since the outage began. */
  #parts = 0;

  /**
   * A part got no answer, or one that says that the API cannot answer now (`transient`). Writes a warning when it is the
   * first part of the outage.
   *
   * @param fields of the line: the part's question
   */
  fails(part: object, error: ApiError, log: Pick<Logger, "warn"> | undefined, fields: object): void {
    const begins = this.#away.size === 0;
    if (this.#away.has(part)) return;
    this.#away.add(part);
    this.#parts = begins ? 1 : this.#parts + 1;
    if (!begins) return;
    const message = "the orchestrator is not heard of; the known objects stay, and it is asked again";
    log?.warn(message, { ...fields, why: error.message });
  }

  /** A part got an answer. Writes a line when no part is without one any more. */
  works(part: object, log: Pick<Logger, "info"> | undefined, fields: object): void {
    if (!this.#away.delete(part) || this.#away.size > 0) return;
    log?.info("the orchestrator is heard of again", { ...fields, ...(this.#parts > 1 && { questions: this.#parts }) });
  }

  /** A part asks no more. */
  leaves(part: object): void {
    this.#away.delete(part);
  }
}

const outages = new WeakMap<object, ApiOutage>();

/** The outage of the API that a client asks: one for all parts that share the client. */
export function outageOf(client: object): ApiOutage {
  return outages.getOrInsertComputed(client, () => new ApiOutage());
}
