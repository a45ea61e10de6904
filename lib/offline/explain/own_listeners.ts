/**
 * Where a workload dials a proxy to which nothing is redirected (`INTERCEPTION_MODE: NONE`): a socket of the proxy, in
 * place of the address of the service.
 *
 * @module
 */
import { hostAndPort } from "../../kernel/text/host.ts";
import type { ProxyOnWay } from "../../debug/explanation.ts";
import { canonicalIp, isIp } from "../../registry/address.ts";
import { clientSockets } from "../../simulate/listener.ts";
import type { ProxyResources } from "../../simulate/types.ts";
import type { ResolvedHost } from "./resolve.ts";

/** Where the client dials. */
export type OwnDial =
  /** The connection is redirected: the client dials the address of the host. */
  | { readonly how: "redirected" }
  /** The client dials a socket of its proxy. */
  | { readonly how: "socket"; readonly resolved: ResolvedHost }
  /** No socket of the proxy has the port: the connection passes the proxy by. */
  | { readonly how: "past"; readonly note: string };

/**
 * Where the client of a proxy dials.
 *
 * @param host As in the question. An address is dialled as it is; of a name only the port counts.
 */
export function dialOf(resources: ProxyResources, host: string, resolved: ResolvedHost, from: ProxyOnWay): OwnDial {
  const sockets = clientSockets(resources);
  if (sockets === undefined) return { how: "redirected" };
  const { port } = resolved;
  const name = `${from.namespace}/${from.name}`;
  const ofPort = sockets.filter((one) => one.port === port).map(({ ip }) => isWildcard(ip) ? from.address : ip);
  const wanted = isIp(host) ? canonicalIp(host) : undefined;
  const ip = wanted === undefined
    ? ofPort.find((one) => one === resolved.ip) ?? ofPort[0]
    : ofPort.find((one) => one === wanted);
  if (ip === undefined) {
    const socket = wanted === undefined ? `port ${port}` : `${wanted}:${port}`;
    return {
      how: "past",
      note: `nothing is redirected to the proxy of ${name}, and the proxy does not listen on ${socket} for it: ` +
        `the request leaves as it is`,
    };
  }
  const note = `nothing is redirected to the proxy of ${name}: ${hostAndPort(ip, port)} of the proxy is dialled`;
  return { how: "socket", resolved: { ...resolved, ip, note } };
}

const isWildcard = (ip: string) => ip === "0.0.0.0" || ip === "::";
