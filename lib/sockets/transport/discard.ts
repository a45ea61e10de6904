/**
 * Frees sockets of `node:net` for good.
 *
 * Deno 2.8.3 never frees the native handle of a closed socket, and the handle refers to the socket: 1 to 2 kB for each
 * connection ever made, and everything that hangs on the socket. Without the reference 75 bytes stay. The tests "closed
 * connections leave nothing behind" and "streams opened and cut in every way leave nothing behind" show when this
 * module is no longer needed.
 *
 * @module
 */
import type { Socket } from "node:net";

/** Makes the runtime let go of a socket at its close. */
export function forgetWhenClosed(socket: Socket): void {
  const handle = handleOf(socket);
  if (handle !== undefined) socket.once("close", () => releaseOwner(handle));
}

/** Destroys a socket, takes everything off it, and makes the runtime let go of the socket. */
export function discard(socket: Socket): void {
  const handle = handleOf(socket);
  socket.removeAllListeners();
  socket.on("error", ignore);
  socket.once("close", forgetErrors);
  if (handle !== undefined) socket.once("close", () => releaseOwner(handle));
  socket.destroy();
  // The socket may have been closed before.
  forgetErrors.call(socket);
}

function ignore(): void {}

/** The native handle of an open socket. */
function handleOf(socket: Socket): object | undefined {
  return (socket as { _handle?: object | null })._handle ?? undefined;
}

/** Removes the handle's reference to the socket. */
function releaseOwner(handle: object): void {
  for (const key of Object.getOwnPropertySymbols(handle)) {
    if (key.description === "ownerSymbol") Reflect.set(handle, key, undefined);
  }
}

/** The internal states of a stream. The property `errored` is documented, but not these objects. */
interface States {
  _readableState?: { errored?: unknown };
  _writableState?: { errored?: unknown };
}

/** Replaces real errors: null would only hide them. */
const DISCARDED = new Error("discarded");

function forgetErrors(this: Socket): void {
  const { _readableState, _writableState } = this as unknown as States;
  if (_readableState?.errored) _readableState.errored = DISCARDED;
  if (_writableState?.errored) _writableState.errored = DISCARDED;
}
