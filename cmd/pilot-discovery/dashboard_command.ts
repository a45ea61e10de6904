/**
 * The command `dashboard`: the address of a server's page for people.
 *
 * Permissions: net (the address of the server).
 *
 * @module
 */
import { type Invocation, UsageError } from "../../lib/cli/command.ts";
import { proxyUrl } from "../../lib/debug/links.ts";
import { askServer, serverOfFlag } from "./ask_server.ts";
import type { dashboardFlags } from "./server_flags.ts";

/** Prints the address, if the server answers; resolves with 0. */
export async function runDashboard({ flags, args, output }: Invocation<typeof dashboardFlags>): Promise<number> {
  const server = serverOfFlag(flags.server);
  const url = new URL("/debug/connections", server);
  const { clients } = await askServer("GET", url, { field: "clients" }) as Connections;
  const [proxy] = args;
  const path = proxy === undefined ? "/debug" : proxyUrl(nodeOf(proxy, clients, server));
  output.out(`${new URL(path, server)}\n`);
  return 0;
}

interface Connections {
  readonly clients: readonly { readonly connectionId: string }[];
}

/** The node id of a proxy: its page stays the same when the proxy connects again. */
function nodeOf(proxy: string, clients: Connections["clients"], server: URL): string {
  const wanted = proxy.includes("/") ? proxy.split("/").reverse().join(".") : proxy;
  const found = clients.find(({ connectionId }) => connectionId.split("~")[2] === wanted);
  if (found === undefined) throw new UsageError(`no proxy ${proxy} is connected to ${server.host}`);
  return found.connectionId.slice(0, found.connectionId.lastIndexOf("-"));
}
