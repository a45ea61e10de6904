/**
 * Gets rid of sockets of `node:net` for good.
 *
 * Deno 2.8.3 never frees the native handle of a closed socket, and the handle refers to its socket: 1 to 2 kB for
 * each connection that ever was, with all that hangs on the socket. Without that reference 75 bytes stay. The tests
 * "closed connections leave nothing behind" and "streams opened and cut in every way leave nothing behind" show when this
 * is no longer needed.
 *
 * @module
 */
import type { Socket } from "node:net";

/** Has the runtime let go of a socket when it has closed. */
export function forgetWhenClosed(socket: Socket): void {
  const handle = handleOf(socket);
  if (handle !== undefined) socket.once("close", () => releaseOwner(handle));
}

/** Destroys a socket, takes everything off it, and has the runtime let go of it. */
export function discard(socket: Socket): void {
  const handle = handleOf(socket);
  socket.removeAllListeners();
  socket.on("error", ignore);
  socket.once("close", forgetErrors);
  if (handle !== undefined) socket.once("close", () => releaseOwner(handle));
  socket.destroy();
  // It may have been closed before.
  forgetErrors.call(socket);
}

function ignore(): void {}

/** The native handle of an open socket. */
function handleOf(socket: Socket): object | undefined {
  return (socket as { _handle?: object | null })._handle ?? undefined;
}

/** Takes the reference to the socket off its handle. */
function releaseOwner(handle: object): void {
  for (const key of Object.getOwnPropertySymbols(handle)) {
    if (key.description === "ownerSymbol") Reflect.set(handle, key, undefined);
  }
}

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
