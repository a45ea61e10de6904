/**
 * A running Envoy that takes everything over ADS from a server under test.
 *
 * Permissions: read and write (temp folder), run (envoy), net (loopback).
 * @module
 */
import { type EnvoyProcess, startEnvoyProcess } from "../../scripts/envoy.ts";
import { PATIENCE } from "../patience.ts";

export class SubscribedEnvoy {
  readonly #running: EnvoyProcess;

  private constructor(running: EnvoyProcess) {
    this.#running = running;
  }

  /** Starts Envoy against `localhost:xdsPort`, by the incremental variant or by state of the world. */
  static async start(path: string, xdsPort: number, delta: boolean, id = "envoy-1"): Promise<SubscribedEnvoy> {
    const ads = {
      api_type: delta ? "DELTA_GRPC" : "GRPC",
      transport_api_version: "V3",
      grpc_services: [{ envoy_grpc: { cluster_name: "xds" } }],
    };
    const source = { ads: {}, resource_api_version: "V3", initial_fetch_timeout: "20s" };
    const bootstrap = {
      node: { id, cluster: "test" },
      admin: { address: { socket_address: { address: "127.0.0.1", port_value: 0 } } },
      dynamic_resources: { ads_config: ads, cds_config: source, lds_config: source },
      static_resources: {
        clusters: [{
          name: "xds",
          type: "STATIC",
          connect_timeout: "2s",
          typed_extension_protocol_options: {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
              "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions",
              explicit_http_config: { http2_protocol_options: {} },
            },
          },
          load_assignment: {
            cluster_name: "xds",
            endpoints: [{
              lb_endpoints: [{
                endpoint: { address: { socket_address: { address: "127.0.0.1", port_value: xdsPort } } },
              }],
            }],
          },
        }],
      },
    };
    return new SubscribedEnvoy(await startEnvoyProcess({ binary: path, bootstrap }));
  }

  /** Text of an admin page. */
  async page(path: string): Promise<string> {
    return (await this.#running.page(path))!;
  }

  /** Value of a counter or gauge; 0 for an absent name. */
  async stat(name: string): Promise<number> {
    const text = await this.page(`stats?filter=^${name.replaceAll(".", "\\.")}$`);
    return Number(/: (\d+)/.exec(text)?.[1] ?? 0);
  }

  /** Sum of all counters of rejected updates. */
  async rejections(): Promise<string[]> {
    const text = await this.page("stats?filter=update_rejected");
    return text.split("\n").filter((line) => line !== "" && !line.endsWith(": 0"));
  }

  /** Address of a listener, once active. */
  async listener(name: string): Promise<string> {
    return await until(`listener ${name}`, async () => {
      const line = (await this.page("listeners")).split("\n").find((text) => text.startsWith(`${name}::`));
      return line?.slice(name.length + 2);
    });
  }

  /** Status and body of a request to a listener; undefined when the connection is refused. */
  static async get(address: string, host: string): Promise<{ status: number; body: string } | undefined> {
    // fetch() cannot set Host, and keeps connections to removed listeners.
    const [hostname, port] = [
      address.slice(0, address.lastIndexOf(":")),
      Number(address.slice(address.lastIndexOf(":") + 1)),
    ];
    try {
      using connection = await Deno.connect({ hostname, port });
      await connection.write(new TextEncoder().encode(`GET / HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`));
      const text = await new Response(connection.readable).text();
      return { status: Number(text.slice(9, 12)), body: text.slice(text.indexOf("\r\n\r\n") + 4) };
    } catch {
      return undefined;
    }
  }

  /** Stops Envoy. @returns the log */
  async stop(): Promise<string> {
    await this.#running.stop("SIGKILL");
    return await this.#running.ended;
  }
}

/** Asks again until the answer is neither undefined nor false. */
export async function until<T>(
  what: string,
  ask: () => Promise<T | undefined | false> | T | undefined | false,
): Promise<T> {
  const limit = performance.now() + PATIENCE;
  while (true) {
    const answer = await ask();
    if (answer !== undefined && answer !== false) return answer;
    if (performance.now() > limit) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
