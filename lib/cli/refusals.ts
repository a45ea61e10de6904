/**
 * Collects the refusals of several readers of the same command line: flags, variables and log options.
 *
 * @module
 */
import { LogOptionError } from "../kernel/log/level.ts";
import { UsageError } from "./command.ts";

/** The refused inputs so far. */
export class Refusals {
  readonly problems: string[] = [];

  /** The result of a reader. Undefined: the reader refused. Other exceptions are thrown on. */
  attempt<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof UsageError || error instanceof LogOptionError)) throw error;
      this.problems.push(...error.message.split("\n"));
      return undefined;
    }
  }

  /** A single error with all problems. */
  error(): UsageError {
    return new UsageError(this.problems.join("\n"));
  }
}
