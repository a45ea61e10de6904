/**
 * HTTP/3 at gateways (`PILOT_ENABLE_QUIC_LISTENERS`). Each server that ends TLS before requests has a second listener
 * for QUIC, if the gateway's service has a UDP port with the server's number. Answers over TCP announce HTTP/3 by
 * `alt-svc` (RFC 7838), and clients return over UDP.
 *
 *     443/TCP ─> 0.0.0.0_8443      TLS      ─┐
 *                                            ├─> https.443.https.gw.ns    alt-svc: h3=":443"; ma=86400
 *     443/UDP ─> udp_0.0.0.0_8443  QUIC     ─┘
 *
 * A server that requires client certificates requires client certificates over QUIC too.
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

/** How long a client may remember the announcement of HTTP/3, seconds (Istio's value). */
const OFFER_LIFETIME_S = 86_400;

/** The codec of an HTTP connection manager of a QUIC listener. */
export const HTTP3_CODEC = { codec_type: Codec.HTTP3, http3_protocol_options: {} } as const;

/** Whether gateways accept HTTP/3 at all: FIPS 140-2 ends at TLS 1.2, and QUIC is only TLS 1.3. */
export function takesHttp3({ settings }: Reader): boolean {
  return settings.http3 && settings.compliancePolicy === "";
}

/**
 * The servers with HTTP/3, by port of the workload. If two TCP ports share a UDP port, the first server has the server
 * names.
 */
export class Http3Ports {
  readonly #targets: readonly ServiceTarget[];
  readonly #datagrams: ReadonlySet<number>;
  readonly #taken = new Set<string>();

  /**
   * @param targets Ports of the services that select the gateway's workload.
   * @param datagrams Ports of the workload that carry other datagrams.
   */
  constructor(targets: readonly ServiceTarget[], datagrams: ReadonlySet<number>) {
    this.#targets = targets.filter(({ port }) => port.protocol === "UDP");
    this.#datagrams = datagrams;
  }

  /**
   * Takes the UDP port for a server.
   *
   * @param bind Listening address of the server. Empty: all addresses.
   * @returns Undefined when the server has no HTTP/3.
   */
  take(server: GatewayServer, bind: string): number | undefined {
    const { kind, spec } = server;
    const allowed = spec.tls?.maxProtocolVersion === "TLS_AUTO" || spec.tls?.maxProtocolVersion === "TLSV1_3";
    if (kind !== "https" || !allowed) return undefined;
    if (!this.#targets.some(({ port }) => port.port === spec.port.number)) return undefined;
    const port = listeningPort(spec.port.number, this.#targets, "UDP");
    if (this.#datagrams.has(port)) return undefined;
    const names = serverNames(server).map((name) => `${bind}|${port}|${name}`);
    if (names.some((name) => this.#taken.has(name))) return undefined;
    for (const name of names) this.#taken.add(name);
    return port;
  }
}

/** The QUIC fields of a listener. */
export function quicListener(
  binds: readonly string[],
  port: number,
): Pick<Listener, "address" | "additional_addresses" | "udp_listener_config"> {
  return { ...udpAddresses(binds, port), udp_listener_config: { quic_options: {}, downstream_socket_config: {} } };
}

/** The addresses of a listener for UDP. */
export function udpAddresses(
  binds: readonly string[],
  port: number,
): Pick<Listener, "address" | "additional_addresses"> {
  const { address, additional_addresses } = listenAddresses(binds, port);
  return {
    ...(address ? { address: overUdp(address) } : {}),
    ...(additional_addresses
      ? { additional_addresses: additional_addresses.map(({ address = {} }) => ({ address: overUdp(address) })) }
      : {}),
  };
}

function overUdp({ socket_address }: Address): Address {
  return { socket_address: { ...socket_address, protocol: Transport.UDP } };
}

/** The header that announces HTTP/3. */
export function http3Offer(port: number): envoy.config.core.v3.HeaderValueOption {
  return { header: { key: "alt-svc", value: `h3=":${port}"; ma=${OFFER_LIFETIME_S}` } };
}
