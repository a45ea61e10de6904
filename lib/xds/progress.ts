/**
 * How far one client of the discovery service has come, push by push.
 *
 * @module
 */

/** How far one stream has come. Made by {@linkcode PushLedger.join}. */
export class PushProgress {
  /** The highest push of which the client has everything, acknowledged; -1 before its first. */
  acked = -1;
  /** Pushes with responses that are not all acknowledged yet. */
  readonly touched = new Set<number>();
  /** Pushes that the client rejected and has not taken since, by type. */
  readonly rejected = new Map<string, Set<number>>();
  /** The push up to which all counts as rejected, by type: the client has rejected a response that it had asked for. */
  readonly rejectedUpTo = new Map<string, number>();
  /** The push of the last response, by type; none where it was asked for. */
  readonly last = new Map<string, number>();

  /**
   * @param proxy Its connection id.
   * @param failing Whether some of its resources could not be made, so that it has acknowledged less than all.
   * @param refusals What it has rejected.
   */
  constructor(
    readonly proxy: string,
    readonly failing: () => boolean,
    readonly refusals: ClientRefusals,
  ) {}

  /** Whether the client has rejected something of a push, and has not taken that type since. */
  hasRejected(push: number): boolean {
    return this.rejected.values().some((pushes) => pushes.has(push)) ||
      this.rejectedUpTo.values().some((last) => push <= last);
  }
}

/** What one client lacks because of its rejections. */
export interface ClientRefusals {
  /** It lacks something. */
  readonly refuses: boolean;
  /** Why it lacks what an object makes, in its words; empty: it has not said so yet. Undefined: it has all of it. */
  lacks(object: string): string | undefined;
  /** All objects of which it lacks something, with its words. */
  lacked(): Iterable<readonly [string, string]>;
}

/** Of a client that has rejected nothing. */
export const REFUSES_NOTHING: ClientRefusals = { refuses: false, lacks: () => undefined, lacked: () => [] };
