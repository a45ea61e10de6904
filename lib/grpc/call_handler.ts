/**
 * A service's side of a call.
 *
 * @module
 */

/** The callbacks of a call's handler. All callbacks are optional except `message`; after `close` none is called. */
export interface CallHandler {
  /**
   * A message arrived. The bytes may be a view of a larger buffer: copy the bytes to keep. An `RpcError` thrown here
   * ends the call with the status of the error, any other error with INTERNAL.
   */
  message(bytes: Uint8Array): void;
  /** The client has sent all messages. Default: the call ends with OK. */
  halfClose?(): void;
  /** The call is over, for any reason; called exactly once. */
  close?(): void;
}
