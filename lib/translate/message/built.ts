/**
 * The return value of a builder.
 *
 * @module
 */

import type { FileSecret } from "./file_secret.ts";

/** A setting that is not in force as written. */
export interface BuildFinding {
  /** Key of the object with the setting, not necessarily the message's first cause. */
  readonly cause: string;
  /** A sentence. */
  readonly text: string;
}

/** A message with its causes and findings. */
export interface Built<T> {
  readonly message: T;
  /**
   * Keys of the configuration objects behind the message (`ServiceEntry/ns/name`, `DestinationRule/ns/name`), the
   * service first.
   */
  readonly causes: readonly string[];
  /** Parts of these objects in the message, spelled as in an encoded resource. Absent: parts are not known. */
  readonly parts?: readonly string[];
  /** Settings that are not in force as written. Absent: none. */
  readonly warnings?: readonly BuildFinding[];
  /** Patches added fields that only `encodeApi` can write. Default false. */
  readonly needsApi?: boolean;
  /** Secrets that the message refers to by name. Absent: none, or secrets of others. */
  readonly secrets?: readonly FileSecret[];
}
