/**
 * Whether a source of configuration is followed now, as pages show it.
 *
 * @module
 */

/** Why a source is not followed now, and since when. */
export interface SourceTrouble {
  readonly problem: string;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** A source; without trouble the server follows the source. */
export interface SourceState extends Partial<SourceTrouble> {
  readonly sort: "folder" | "orchestrator" | "control plane";
  /** The folder's path, the cluster's name or the address. */
  readonly name: string;
}
