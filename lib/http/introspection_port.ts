/**
 * The port of the pages about a process. Every server opens it by default.
 *
 * @module
 */
import type { Logger } from "../kernel/log/log.ts";

/** Where the pages about the process are served. */
export interface IntrospectionPort {
  /** `host:port`. */
  readonly address: string;
  /**
   * The address was set explicitly: the program does not start without the address. Otherwise the program runs without
   * the pages.
   */
  readonly required: boolean;
}

/** Ways to open the port. */
export interface IntrospectionOpening {
  /** Opens the port and returns the number. */
  readonly open: () => Promise<number>;
  /** Opens the port. A failure ends the start, with one report about all unusable addresses. */
  readonly require: () => Promise<number | undefined>;
}

/**
 * The port; undefined: the address could not be used. The default address alone does not keep a program from working.
 */
export async function openIntrospection(
  { address, required }: IntrospectionPort,
  { open, require }: IntrospectionOpening,
  log: Logger,
): Promise<number | undefined> {
  if (required) return await require();
  try {
    return await open();
  } catch (error) {
    log.warn("no introspection pages: the address cannot be used", { address, error });
    return undefined;
  }
}
