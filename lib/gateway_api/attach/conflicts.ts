/**
 * Conflicts of listeners. Of listeners with the same place only the first by precedence serves.
 *
 * @module
 */
import type { ApiListener } from "../../config/kinds/kinds.ts";
import { ANY_HOST } from "./hostnames.ts";
import { hasHostname, protocolOf } from "./protocols.ts";

/** Why a listener does not get its place: another listener has the place. */
export interface TakenPlace {
  readonly reason: "HostnameConflict" | "ProtocolConflict";
  readonly message: string;
}

/** The listeners of one port. */
interface PortListeners {
  /** The TCP listener, which takes all connections of the port. */
  bytes?: PlacedListener;
  /** The UDP listener. */
  datagrams?: PlacedListener;
  readonly byHost: Map<string, PlacedListener>;
}

/** A listener with its owner in words. */
export interface PlacedListener {
  readonly spec: ApiListener;
  /** `Gateway shop/edge`. */
  readonly owner: string;
}

/**
 * The places of one Gateway's listeners. On a port there is one TCP listener, or any number of listeners with different
 * hostnames; and one UDP listener. A port of a proxy is either in plain text or with TLS, so listeners of HTTP are not
 * beside listeners of HTTPS and TLS.
 */
export class ListenerPlaces {
  readonly #ports = new Map<number, PortListeners>();

  /** Gives a listener its place. @returns Why the listener does not get the place; undefined: the listener has it. */
  take(listener: PlacedListener): TakenPlace | undefined {
    const { spec } = listener;
    const protocol = protocolOf(spec);
    if (protocol === undefined) return undefined;
    const port = this.#port(spec.port);
    if (protocol === "UDP") {
      if (port.datagrams === undefined) port.datagrams = listener;
      return port.datagrams === listener ? undefined : conflict(spec, port.datagrams);
    }
    if (port.bytes !== undefined) return conflict(spec, port.bytes);
    if (!hasHostname(protocol)) {
      const [first] = port.byHost.values();
      if (first !== undefined) return conflict(spec, first);
      port.bytes = listener;
      return undefined;
    }
    const host = spec.hostname || ANY_HOST;
    const [first] = port.byHost.values();
    const isOther = first !== undefined && (protocol === "HTTP") !== (first.spec.protocol === "HTTP");
    const winner = isOther ? first : port.byHost.get(host);
    if (winner !== undefined) return conflict(spec, winner);
    port.byHost.set(host, listener);
    return undefined;
  }

  #port(number: number): PortListeners {
    let port = this.#ports.get(number);
    if (port === undefined) this.#ports.set(number, port = { byHost: new Map() });
    return port;
  }
}

function conflict({ protocol, port, hostname }: ApiListener, { spec, owner }: PlacedListener): TakenPlace {
  const winner = `listener "${spec.name}" of ${owner}`;
  if (protocol !== spec.protocol) {
    return {
      reason: "ProtocolConflict",
      message: `port ${port} is taken with protocol ${spec.protocol} by ${winner}`,
    };
  }
  const place = hasHostname(protocolOf(spec) ?? "TCP") ? `hostname "${hostname || ANY_HOST}" on port` : "port";
  return { reason: "HostnameConflict", message: `${place} ${port} is taken by ${winner}` };
}
