/**
 * The port of the pages about a process, which every server has by default.
 *
 * @module
 */
import type { Logger } from "../kernel/log/log.ts";

/** Where the pages about the process are served. */
export interface IntrospectionPort {
  /** `host:port`. */
  readonly address: string;
  /** Asked for by name: a program that cannot have the address does not start. Otherwise it goes on without. */
  readonly required: boolean;
}

/** Ways to open the port. */
export interface IntrospectionOpening {
  /** Opens it; the port. */
  readonly open: () => Promise<number>;
  /** Opens it so that a failure ends the start, which reports all addresses that cannot be used at once. */
  readonly require: () => Promise<number | undefined>;
}

/** The port; undefined where it could not be had. A port that is there by default alone does not keep a program from its work. */
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
