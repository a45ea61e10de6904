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
  /** Stops taking connections and removes the socket file. Open connections live on. */
  close(): Promise<void>;
}

/** How a Unix-socket listener behaves. */
export interface UnixListenOptions {
  /** Permission bits of the socket file. Default 0o660: processes of the same user and group may connect. */
  readonly mode?: number;
  /** Takes the path over from a process that still listens there. Default false: an error. */
  readonly takeOver?: boolean;
}

/**
 * Listens on a Unix socket, and hands each connection to `accept`. A socket file without a listener (after a killed
 * server) is replaced. A missing folder is made.
 *
 * The socket is made beside the path and then moved. So the socket file always has the right permission bits, and a
 * take-over leaves no moment without a server. At the end, this listener does not remove the file of a successor: the
 * runtime removes only the path under which a listener was made.
 *
 * @throws Deno.errors.AddrInUse when another process listens there, or the path is a file that is not a socket
 */
export async function listenUnix(
  path: string,
  accept: (transport: Transport) => void,
  { mode = 0o660, takeOver = false }: UnixListenOptions = {},
): Promise<UnixListener> {
  const folder = path.slice(0, path.lastIndexOf("/")) || ".";
  await Deno.mkdir(folder, { recursive: true, mode: 0o750 });
  await checkFree(path, takeOver);
  const made = `${folder}/.${crypto.randomUUID().slice(0, 8)}`;
  const listener = Deno.listen({ transport: "unix", path: made });
  await Deno.chmod(made, mode);
  const { ino } = await Deno.lstat(made);
  await Deno.rename(made, path);
  const ended = acceptAll(listener, path, accept);
  return {
    path,
    async close() {
      const info = await Deno.lstat(path).catch(() => undefined);
      if (info?.ino === ino) await Deno.remove(path);
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
      // For example without free descriptors. The error harms one connection and passes.
      await new Promise((resolve) => setTimeout(resolve, 100));
      continue;
    }
    accept(new UnixTransport(connection, path));
  }
}

/** @throws Deno.errors.AddrInUse when the path is taken */
async function checkFree(path: string, takeOver: boolean): Promise<void> {
  const info = await Deno.lstat(path).catch(() => undefined);
  if (info === undefined) return;
  if (!info.isSocket) throw new Deno.errors.AddrInUse(`${path} is a file, not a socket`);
  if (takeOver) return;
  try {
    (await Deno.connect({ transport: "unix", path })).close();
  } catch (error) {
    if (error instanceof Deno.errors.ConnectionRefused) return;
    throw error;
  }
  throw new Deno.errors.AddrInUse(`${path}: another process listens there`);
}
