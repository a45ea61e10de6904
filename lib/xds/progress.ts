/**
 * The progress of one client of the discovery service, push by push.
 *
 * @module
 */

/** The progress of one stream. Made by {@linkcode PushLedger.join}. */
export class PushProgress {
  /** The highest push of which the client has acknowledged everything; -1 before the first. */
  acked = -1;
  /** Pushes with unacknowledged responses. */
  readonly touched = new Set<number>();
  /** Pushes that the client rejected and has not taken since, by type. */
  readonly rejected = new Map<string, Set<number>>();
  /**
   * The last push that counts as rejected together with all earlier pushes, by type. Set when the client rejects a
   * response to its own request.
   */
  readonly rejectedUpTo = new Map<string, number>();
  /** The push of the last response, by type; absent: the last response answered a request. */
  readonly last = new Map<string, number>();

  /**
   * @param proxy The connection id.
   * @param failing Whether some of the proxy's resources could not be made. Such a proxy has acknowledged less than
   * everything.
   * @param refusals The client's rejections.
   */
  constructor(
    readonly proxy: string,
    readonly failing: () => boolean,
    readonly refusals: ClientRefusals,
  ) {}

  /** Whether the client has rejected a part of a push, and has not taken that type since. */
  hasRejected(push: number): boolean {
    return this.rejected.values().some((pushes) => pushes.has(push)) ||
      this.rejectedUpTo.values().some((last) => push <= last);
  }
}

/** The resources that a client lacks because of rejections. */
export interface ClientRefusals {
  /** Whether the client lacks anything. */
  readonly refuses: boolean;
  /**
   * The client's reason for lacking an object's resources; empty: no reason has come yet. Undefined: the client has all
   * resources of the object.
   */
  lacks(object: string): string | undefined;
  /** All objects with lacking resources, with the client's reason. */
  lacked(): Iterable<readonly [string, string]>;
}

/** The refusals of a client without rejections. */
export const REFUSES_NOTHING: ClientRefusals = { refuses: false, lacks: () => undefined, lacked: () => [] };
