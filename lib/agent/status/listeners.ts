/**
 * Whether Envoy's listeners accept connections. The agent connects as a client does, so that an unbound port, or a port
 * of another program, shows before the workload is called ready.
 *
 * Permissions: net (Envoy's listeners).
 *
 * @module
 */
import type { EnvoyAdmin } from "../envoy/admin.ts";
import { within } from "../probes/within.ts";
import { probePort } from "../probes/port_probe.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import { boundListeners } from "./bound_listeners.ts";
import type { ReadinessCheck } from "./readiness.ts";

/** Time for one connection, ms. The listener is on this machine. */
const TIMEOUT = 1000;
/** Connections at a time: a gateway may have thousands of listeners. */
const AT_ONCE = 16;

/** The client-facing listeners of an Envoy. */
export interface ListenersInput {
  readonly admin: Pick<EnvoyAdmin, "page">;
  /**
   * Traffic is redirected to two listeners, which lead to most other listeners. Listeners without redirection
   * (`captureMode: NONE` of a Sidecar object) must have sockets.
   */
  readonly isRedirected: boolean;
  /** Addresses of the workload. A listener may also have its socket on the loopback address or on all addresses. */
  readonly addresses: readonly string[];
  /** Ports of readiness and metrics. */
  readonly ownPorts: readonly number[];
  readonly clock: Clock;
}

export function listenersCheck(input: ListenersInput): ReadinessCheck {
  const { admin, clock } = input;
  return async () => {
    const all = listenersOf(await admin.page("listeners?format=json")).filter(({ name }) => !name.startsWith("udp_"));
    const expected = input.isRedirected ? await withSockets(all, input) : all;
    for (let at = 0; at < expected.length; at += AT_ONCE) {
      const reasons = await Promise.all(expected.slice(at, at + AT_ONCE).map((one) => refusal(one, clock)));
      const first = reasons.find((reason) => reason !== undefined);
      if (first !== undefined) return first;
    }
    return undefined;
  };
}

/** Listeners of a redirected sidecar with a socket of their own. */
async function withSockets(
  all: readonly EnvoyListener[],
  { admin, addresses, ownPorts }: ListenersInput,
): Promise<EnvoyListener[]> {
  const isUsual = ({ name }: EnvoyListener) =>
    name === "virtualInbound" || name === "virtualOutbound" || ownPorts.some((port) => name.endsWith(`_${port}`));
  // A socket needs an address of this machine. Most listeners have the address of a service.
  const isHere = ({ host }: EnvoyListener) => host.startsWith("127.") || host === "::1" || addresses.includes(host);
  const unsure = all.filter((one) => !isUsual(one) && isHere(one)).map(({ name }) => name);
  const bound = await boundListeners(admin, unsure);
  return all.filter((one) => isUsual(one) || bound.has(one.name));
}

async function refusal({ name, host, port }: EnvoyListener, clock: Clock): Promise<string | undefined> {
  try {
    await within({ timeout: TIMEOUT, clock }, (signal) => probePort({ host, port }, signal));
    return undefined;
  } catch (error) {
    return `the listener ${name} takes no connections: ${(error as Error).message}`;
  }
}

/** A listener with a socket of TCP. */
export interface EnvoyListener {
  readonly name: string;
  readonly host: string;
  readonly port: number;
}

interface ListenerStatus {
  readonly name?: string;
  readonly local_address?: {
    readonly socket_address?: { readonly address?: string; readonly port_value?: number; readonly protocol?: string };
  };
}

/** Listeners of Envoy's page `listeners?format=json` (`envoy.admin.v3.Listeners`); of all addresses, the loopback. */
export function listenersOf(json: string): EnvoyListener[] {
  const { listener_statuses: statuses = [] } = JSON.parse(json) as { listener_statuses?: ListenerStatus[] };
  return statuses.flatMap(({ name = "", local_address }) => {
    const { address, port_value: port, protocol = "TCP" } = local_address?.socket_address ?? {};
    if (address === undefined || port === undefined || protocol !== "TCP") return [];
    const host = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
    return [{ name, host, port }];
  });
}
