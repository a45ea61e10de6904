/**
 * The side of a service in one call.
 *
 * @module
 */

/** The callbacks of a call's handler. All callbacks are optional except `message`; after `close` none is called. */
export interface CallHandler {
  /**
   * A message arrived. The bytes may be a view of a larger buffer: copy the bytes to keep. An `RpcError`
   * thrown here ends the call with its status, any other one as INTERNAL.
   */
  message(bytes: Uint8Array): void;
  /** The client has sent all its messages. Default: the call ends with OK. */
  halfClose?(): void;
  /** The call is over, for any reason; called exactly once. */
  close?(): void;
}
