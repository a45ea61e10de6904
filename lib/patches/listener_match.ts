/**
 * The matching of patches to listeners and filter chains.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import type { CompiledPatch } from "./types.ts";

type Listener = envoy.config.listener.v3.Listener;
type FilterChain = envoy.config.listener.v3.FilterChain;

/** Listeners for connections to any port: the port of a patch then means the port of a chain. */
const VIRTUAL: ReadonlySet<string> = new Set(["virtualInbound", "virtualOutbound"]);

function isVirtual({ name = "" }: Listener): boolean {
  return VIRTUAL.has(name);
}

/** Whether a patch matches a listener. */
export function matchesListener(listener: Listener, { applyTo, listener: match }: CompiledPatch): boolean {
  if (match === undefined) return true;
  if (match.name && match.name !== listener.name) return false;
  if (applyTo !== "LISTENER" && isVirtual(listener)) return true;
  return !match.portNumber || listener.address?.socket_address?.port_value === match.portNumber;
}

/** Whether a patch matches a chain of a matching listener. */
export function matchesChain(listener: Listener, chain: FilterChain, { listener: match }: CompiledPatch): boolean {
  if (match === undefined) return true;
  const { destination_port, server_names = [], transport_protocol, application_protocols = [] } =
    chain.filter_chain_match ?? {};
  const port = destination_port?.value;
  if (isVirtual(listener) && match.portNumber && match.portNumber !== port) return false;
  const { name, sni, transportProtocol, applicationProtocols, destinationPort } = match.filterChain ?? {};
  return (!name || name === chain.name) && (!sni || server_names.includes(sni)) &&
    (!transportProtocol || transportProtocol === transport_protocol) &&
    (!applicationProtocols || applicationProtocols.split(",").every((one) => application_protocols.includes(one))) &&
    (!destinationPort || destinationPort === port);
}

/** Name of the listener filter in a patch's match. */
export function listenerFilterName({ listener }: CompiledPatch): string | undefined {
  return listener?.listenerFilter || undefined;
}

/** Name of the network filter in a patch's match. */
export function networkFilterName({ listener }: CompiledPatch): string | undefined {
  const filter = listener?.filterChain?.filter;
  return filter && (filter.name ?? "");
}

/** Name of the HTTP filter in a patch's match. */
export function httpFilterName({ listener }: CompiledPatch): string | undefined {
  const sub = listener?.filterChain?.filter?.subFilter;
  return sub && (sub.name ?? "");
}
