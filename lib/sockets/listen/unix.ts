/**
 * Unix-socket listeners.
 *
 * Permissions: read, write (the socket file).
 *
 * @module
 */
import type { Transport } from "../transport/transport.ts";
import { UnixTransport } from "../transport/unix.ts";

/** A listening Unix socket. */
export interface UnixListener {
  /** The socket file. */
  readonly path: string;
  /** Stops taking connections and removes the socket file; connections that were taken live on. */
  close(): Promise<void>;
}

/** How a Unix-socket listener behaves. */
export interface UnixListenOptions {
  /** Permission bits of the socket file. Default 0o660: processes of the same user and group may connect. */
  readonly mode?: number;
}

/**
 * Listens on a Unix socket and hands each connection to `accept`. A socket file that nobody listens on any more (its
 * server was killed) is replaced; the folder is made when it is missing.
 *
 * @throws Deno.errors.AddrInUse when another process listens there, or the path is a file that is no socket
 */
export async function listenUnix(
  path: string,
  accept: (transport: Transport) => void,
  options: UnixListenOptions = {},
): Promise<UnixListener> {
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")) || ".", { recursive: true, mode: 0o750 });
  await removeStale(path);
  const listener = Deno.listen({ transport: "unix", path });
  await Deno.chmod(path, options.mode ?? 0o660);
  const ended = acceptAll(listener, path, accept);
  return {
    path,
    async close() {
      // The runtime removes the file, whoever it belongs to by now.
      listener.close();
      await ended;
    },
  };
}

async function acceptAll(listener: Deno.UnixListener, path: string, accept: (transport: Transport) => void) {
  for (;;) {
    let connection: Deno.UnixConn;
    try {
      connection = await listener.accept();
    } catch (error) {
      if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) return;
      // Out of descriptors, for example: it harms that connection, and passes.
      await new Promise((resolve) => setTimeout(resolve, 100));
      continue;
    }
    accept(new UnixTransport(connection, path));
  }
}

/** Removes a socket file on which nobody listens. */
async function removeStale(path: string): Promise<void> {
  const info = await Deno.lstat(path).catch(() => undefined);
  if (info === undefined) return;
  if (!info.isSocket) throw new Deno.errors.AddrInUse(`${path} is a file that is no socket`);
  try {
    (await Deno.connect({ transport: "unix", path })).close();
  } catch (error) {
    if (error instanceof Deno.errors.ConnectionRefused) return await Deno.remove(path);
    throw error;
  }
  throw new Deno.errors.AddrInUse(`${path}: another process listens there`);
}
