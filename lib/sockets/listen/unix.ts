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
  /** Takes the path over from a process that still listens there. Default false: that is an error. */
  readonly takeOver?: boolean;
}

/**
 * Listens on a Unix socket and hands each connection to `accept`. A socket file without a listener (its
 * server was killed) is replaced; the folder is made when it is missing.
 *
 * The socket is made beside its path and moved there, so that it is never without its permission bits, a take-over leaves
 * no moment without a server, and this listener's end does not remove the file of the one that took over (the runtime
 * removes the path that a listener was made with).
 *
 * @throws Deno.errors.AddrInUse when another process listens there, or the path is a file that is no socket
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
      // Out of descriptors, for example: it harms that connection, and passes.
      await new Promise((resolve) => setTimeout(resolve, 100));
      continue;
    }
    accept(new UnixTransport(connection, path));
  }
}

/** @throws Deno.errors.AddrInUse when the path is not to be had */
async function checkFree(path: string, takeOver: boolean): Promise<void> {
  const info = await Deno.lstat(path).catch(() => undefined);
  if (info === undefined) return;
  if (!info.isSocket) throw new Deno.errors.AddrInUse(`${path} is a file that is no socket`);
  if (takeOver) return;
  try {
    (await Deno.connect({ transport: "unix", path })).close();
  } catch (error) {
    if (error instanceof Deno.errors.ConnectionRefused) return;
    throw error;
  }
  throw new Deno.errors.AddrInUse(`${path}: another process listens there`);
}
