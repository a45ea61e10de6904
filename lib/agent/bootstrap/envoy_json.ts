/**
 * Small pieces of Envoy configuration as protojson, for the bootstrap.
 *
 * @module
 */

/** A message as protojson. */
export type EnvoyJson = Readonly<Record<string, unknown>>;

/** `host:port` or `[v6]:port`, taken apart. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** Takes `host:port` apart. Returns undefined for another text. */
export function parseHostPort(text: string): HostPort | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:\[\]]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  return match === null || port > 65535 ? undefined : { host: match[1] ?? match[2]!, port };
}

export function tcpAddress(address: string, port_value: number): EnvoyJson {
  return { socket_address: { protocol: "TCP", address, port_value } };
}

/** The address of a Unix socket. */
export function pipeAddress(path: string): EnvoyJson {
  return { pipe: { path } };
}

/** A message in an `Any`. */
export function typed(name: string, fields: EnvoyJson = {}): EnvoyJson {
  return { "@type": `type.googleapis.com/${name}`, ...fields };
}

/** One endpoint as a cluster's assignment. */
export function assignment(cluster_name: string, address: EnvoyJson): EnvoyJson {
  return { cluster_name, endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }] };
}

/** The options of an HTTP/2 cluster. */
export function http2Options(): EnvoyJson {
  const name = "envoy.extensions.upstreams.http.v3.HttpProtocolOptions";
  return { [name]: typed(name, { explicit_http_config: { http2_protocol_options: {} } }) };
}

/** A duration of milliseconds as protojson. */
export function seconds(ms: number): string {
  return `${ms / 1000}s`;
}
