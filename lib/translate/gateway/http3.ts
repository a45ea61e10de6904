/**
 * HTTP/3 at gateways (`PILOT_ENABLE_QUIC_LISTENERS`): each server that ends TLS before requests has a second listener, of
 * QUIC, where the gateway's service has a UDP port of the server's number. Clients learn of it by `alt-svc` (RFC 7838) in
 * answers over TCP, and come back over UDP.
 *
 *     443/TCP ─> 0.0.0.0_8443      TLS      ─┐
 *                                            ├─> https.443.https.gw.ns    alt-svc: h3=":443"; ma=86400
 *     443/UDP ─> udp_0.0.0.0_8443  QUIC     ─┘
 *
 * A server that asks clients for certificates asks for them over QUIC too.
 *
 * @module
 */
import {
  HttpConnectionManager_CodecType as Codec,
  SocketAddress_Protocol as Transport,
} from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import type { ServiceTarget } from "../../registry/inbound.ts";
import { listenAddresses } from "../listener/address.ts";
import type { Reader } from "../reader/reader.ts";
import { listeningPort } from "./port.ts";
import { type GatewayServer, serverNames } from "./server.ts";

type Listener = envoy.config.listener.v3.Listener;
type Address = envoy.config.core.v3.Address;

/** How long a client may remember that there is HTTP/3, seconds (Istio's value). */
const OFFER_LIFETIME_S = 86_400;

/** The codec of an HTTP connection manager of a QUIC listener. */
export const HTTP3_CODEC = { codec_type: Codec.HTTP3, http3_protocol_options: {} } as const;

/** Whether gateways take HTTP/3 at all: FIPS 140-2 ends at TLS 1.2, and QUIC is TLS 1.3 alone. */
export function takesHttp3({ settings }: Reader): boolean {
  return settings.http3 && settings.compliancePolicy === "";
}

/**
 * The servers that have HTTP/3, by port of the workload. Two TCP ports may have one UDP port behind them: its server
 * names are the first server's.
 */
export class Http3Ports {
  readonly #targets: readonly ServiceTarget[];
  readonly #taken = new Set<string>();

  /** @param targets Ports of the services that select the gateway workload. */
  constructor(targets: readonly ServiceTarget[]) {
    this.#targets = targets.filter(({ port }) => port.protocol === "UDP");
  }

  /**
   * The UDP port of a server that is served.
   *
   * @param bind Where it listens; empty: all addresses.
   * @returns Undefined where it has none.
   */
  take(server: GatewayServer, bind: string): number | undefined {
    const { kind, spec } = server;
    const allowed = spec.tls?.maxProtocolVersion === "TLS_AUTO" || spec.tls?.maxProtocolVersion === "TLSV1_3";
    if (kind !== "https" || !allowed) return undefined;
    if (!this.#targets.some(({ port }) => port.port === spec.port.number)) return undefined;
    const port = listeningPort(spec.port.number, this.#targets, "UDP");
    const names = serverNames(server).map((name) => `${bind}|${port}|${name}`);
    if (names.some((name) => this.#taken.has(name))) return undefined;
    for (const name of names) this.#taken.add(name);
    return port;
  }
}

/** How a listener takes QUIC. */
export function quicListener(
  binds: readonly string[],
  port: number,
): Pick<Listener, "address" | "additional_addresses" | "udp_listener_config"> {
  const { address, additional_addresses } = listenAddresses(binds, port);
  return {
    ...(address ? { address: overUdp(address) } : {}),
    ...(additional_addresses
      ? { additional_addresses: additional_addresses.map(({ address = {} }) => ({ address: overUdp(address) })) }
      : {}),
    udp_listener_config: { quic_options: {}, downstream_socket_config: {} },
  };
}

function overUdp({ socket_address }: Address): Address {
  return { socket_address: { ...socket_address, protocol: Transport.UDP } };
}

/** The header by which clients learn of it. */
export function http3Offer(port: number): envoy.config.core.v3.HeaderValueOption {
  return { header: { key: "alt-svc", value: `h3=":${port}"; ma=${OFFER_LIFETIME_S}` } };
}
