/**
 * Further faults that would keep a server from starting, looked for when one source has already failed: a user who has
 * corrected a path should not meet a taken port only then.
 *
 * Permissions: read (the folder), net (the listen addresses, each for a moment).
 *
 * @module
 */
import { entriesOf } from "../kernel/files/regular.ts";
import { listen, type Listener, parseListenAddress } from "../sockets/listen/tcp.ts";
import { Sockets } from "./sockets.ts";
import { folderFault, type PortOption, StartError, type StartFault } from "./start_error.ts";

/** The options to look at; names as in `DiscoveryServerOptions`. */
export interface LaterOptions {
  readonly configDir: string | undefined;
  readonly grpc: string | undefined;
  readonly secureGrpc?: string | undefined;
  readonly webhooks?: string | undefined;
  readonly http: string;
  readonly monitoring: string | undefined;
  readonly introspection?: { readonly address: string; readonly required: boolean };
}

/** The same error, with the faults of the options that come after those at fault. */
export async function withLaterFaults(error: StartError, options: LaterOptions): Promise<StartError> {
  const at = new Set(error.faults.map(({ option }) => option));
  // Sockets are the last step, and report each other's faults.
  const ports: readonly PortOption[] = ["grpc", "secureGrpc", "http", "webhooks", "monitoring", "introspection"];
  if (ports.some((port) => at.has(port))) return error;
  const folder = at.has("configDir") ? [] : await folderFaults(options.configDir);
  return new StartError([...error.faults, ...folder, ...await socketFaults(options)], error.cause);
}

async function folderFaults(root: string | undefined): Promise<StartFault[]> {
  if (root === undefined) return [];
  try {
    await entriesOf(root);
    return [];
  } catch (error) {
    const fault = folderFault(root, error);
    return fault === undefined ? [] : [fault];
  }
}

async function socketFaults(options: LaterOptions): Promise<readonly StartFault[]> {
  const opened: Listener[] = [];
  const sockets = new Sockets();
  const { grpc, secureGrpc, http, webhooks, monitoring, introspection } = options;
  const named = introspection?.required ? introspection.address : undefined;
  const addresses = { http, grpc, secureGrpc, webhooks: webhooks || undefined, monitoring, introspection: named };
  for (const [option, address] of Object.entries(addresses) as [PortOption, string | undefined][]) {
    if (address === undefined) continue;
    await sockets.open(option, address, async () => {
      const listener = await listen(parseListenAddress(address), (socket) => void socket.destroy());
      opened.push(listener);
      return listener;
    });
  }
  await Promise.all(opened.map((listener) => listener.close()));
  return sockets.faults;
}
