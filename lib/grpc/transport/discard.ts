/**
 * Gets rid of a socket for good.
 *
 * Deno 2.8.3 keeps every closed `node:net` socket for ever (some 1 kB), and with it all that hangs on the socket: its
 * listeners, and an error of a cancelled write, which holds the stack and so the connection. Those are taken off here.
 * The test "streams opened and cut in every way leave nothing behind" shows when this is no longer needed.
 *
 * @module
 */
import type { Socket } from "node:net";

/** Destroys a socket and takes everything off it. */
export function discard(socket: Socket): void {
  socket.removeAllListeners();
  socket.on("error", ignore);
  socket.once("close", forgetErrors);
  socket.destroy();
  // It may have been closed before.
  forgetErrors.call(socket);
}

function ignore(): void {}

/** The states of a stream; `errored` is documented, its place is not. */
interface States {
  _readableState?: { errored?: unknown };
  _writableState?: { errored?: unknown };
}

/** Takes the place of real errors: null would only hide them. */
const DISCARDED = new Error("discarded");

function forgetErrors(this: Socket): void {
  const { _readableState, _writableState } = this as unknown as States;
  if (_readableState?.errored) _readableState.errored = DISCARDED;
  if (_writableState?.errored) _writableState.errored = DISCARDED;
}
