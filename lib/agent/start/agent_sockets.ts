/**
 * The UNIX sockets of an agent for the proxy.
 *
 * Permissions: read, write and net (the sockets).
 *
 * @module
 */
import { GrpcServer } from "../../grpc/server.ts";
import type { Log } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { listenUnix, type UnixListener } from "../../sockets/listen/unix.ts";
import type { Relay } from "../relay/relay.ts";
import type { AgentInput } from "./agent_input.ts";
import { failureReports } from "./failure_reports.ts";

/** A socket and its server. */
export interface OpenSocket {
  readonly server: GrpcServer;
  readonly listener: UnixListener;
}

/**
 * Opens one server for each socket. Only the user of the proxy may open the sockets.
 *
 * @throws {Error} With the path of a socket that cannot be opened. The sockets before it are closed again.
 */
export async function openSockets(
  wanted: readonly { readonly path: string; readonly service: Relay["service"] }[],
  { settings, proxyUser }: AgentInput,
  kernel: { readonly clock: Clock; readonly log: Log; readonly metrics: Metrics },
): Promise<OpenSocket[]> {
  const open: OpenSocket[] = [];
  for (const { path, service } of wanted) {
    const server = new GrpcServer([service], {
      maxMessageSize: settings.MESH_GPRC_MAXRECVMSGSIZE,
      ...failureReports(kernel),
    });
    try {
      const folder = path.slice(0, path.lastIndexOf("/"));
      await Deno.mkdir(folder, { recursive: true, mode: 0o755 });
      const listener = await listenUnix(path, (transport) => server.accept(transport), { mode: 0o660 });
      open.push({ server, listener });
      if (proxyUser !== undefined) await Deno.chown(path, proxyUser.uid, proxyUser.gid);
    } catch (error) {
      await server.stop(0);
      await closeSockets(open);
      throw new Error(`${path}: ${(error as Error).message}`, { cause: error });
    }
  }
  return open;
}

/** Closes the sockets, and ends the calls on the sockets. */
export async function closeSockets(sockets: readonly OpenSocket[]): Promise<void> {
  for (const { server, listener } of sockets) {
    await listener.close();
    await server.stop(0);
  }
}
