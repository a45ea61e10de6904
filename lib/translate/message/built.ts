/**
 * The return value of a builder.
 *
 * @module
 */

import type { FileSecret } from "./file_secret.ts";

/** A message, and why it is as it is. */
export interface Built<T> {
  readonly message: T;
  /** Keys of the config objects that made it (`ServiceEntry/ns/name`, `DestinationRule/ns/name`), the service first. */
  readonly causes: readonly string[];
  /** Settings that are not in force as written, one sentence each; absent: none. */
  readonly warnings?: readonly string[];
  /** Secrets that the message asks for by name; absent: none, or others'. */
  readonly secrets?: readonly FileSecret[];
}
