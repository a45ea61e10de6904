/**
 * The return value of a builder.
 *
 * @module
 */

import type { FileSecret } from "./file_secret.ts";

/** A setting that is not in force as written. */
export interface BuildFinding {
  /** Key of the object that has the setting; it need not be the message's first cause. */
  readonly cause: string;
  /** One sentence. */
  readonly text: string;
}

/** A message, and why it is as it is. */
export interface Built<T> {
  readonly message: T;
  /** Keys of the config objects that made it (`ServiceEntry/ns/name`, `DestinationRule/ns/name`), the service first. */
  readonly causes: readonly string[];
  /** Parts of them that are in the message, as an encoded resource names them; absent: not known by parts. */
  readonly parts?: readonly string[];
  /** Settings that are not in force as written; absent: none. */
  readonly warnings?: readonly BuildFinding[];
  /** Patches gave it fields that `encodeApi` alone writes. Default: they did not. */
  readonly needsApi?: boolean;
  /** Secrets that the message asks for by name; absent: none, or others'. */
  readonly secrets?: readonly FileSecret[];
}
