/**
 * A real Envoy in a pod: two listeners that pass every connection on to its intended destination.
 *
 * Permissions: run, read, write (a temp folder).
 * @module
 */
import { addresses, type Cable, users } from "./pod.ts";
import { type EnvoyProcess, startEnvoyProcess } from "../../../scripts/envoy.ts";

/** Address without a machine: the outbound proxy takes the address for a service whose only workload is this pod. */
export const virtualAddress = { 4: "10.99.0.1", 6: "fd99::1" } as const;

const original = {
  name: "envoy.filters.listener.original_dst",
  typed_config: typed("filters.listener.original_dst.v3.OriginalDst"),
};

function typed(type: string, fields: Record<string, unknown> = {}) {
  return { "@type": `type.googleapis.com/envoy.extensions.${type}`, ...fields };
}

function passTo(cluster: string, direction: string) {
  const format = {
    text_format_source: {
      inline_string:
        `CONN ${direction} %DOWNSTREAM_REMOTE_ADDRESS_WITHOUT_PORT% %DOWNSTREAM_LOCAL_ADDRESS% %UPSTREAM_HOST%\n`,
    },
  };
  const log = { name: "log", typed_config: typed("access_loggers.stream.v3.StdoutAccessLog", { log_format: format }) };
  const proxy = typed("filters.network.tcp_proxy.v3.TcpProxy", { stat_prefix: cluster, cluster, access_log: [log] });
  return { name: "envoy.filters.network.tcp_proxy", typed_config: proxy };
}

function socket(address: string, port: number) {
  return { socket_address: { address, port_value: port } };
}

function familyConfig(family: 4 | 6, tproxy: boolean) {
  const any = family === 4 ? "0.0.0.0" : "::";
  const passthrough = { source_address: { address: family === 4 ? "127.0.0.6" : "::6", port_value: 0 } };
  const source = typed("filters.listener.original_src.v3.OriginalSrc", { mark: 1337 });
  const bits = family === 4 ? 32 : 128;
  const dynamic = (name: string, more: Record<string, unknown>) => ({
    name,
    type: "ORIGINAL_DST",
    lb_policy: "CLUSTER_PROVIDED",
    connect_timeout: "2s",
    ...more,
  });
  return {
    listeners: [
      {
        name: `outbound${family}`,
        address: socket(any, 15001),
        listener_filters: [original],
        filter_chains: [
          {
            filter_chain_match: { prefix_ranges: [{ address_prefix: virtualAddress[family], prefix_len: bits }] },
            filters: [passTo(`self${family}`, "outbound")],
          },
          { filters: [passTo(`outbound${family}`, "outbound")] },
        ],
      },
      {
        name: `inbound${family}`,
        address: socket(any, 15006),
        ...(tproxy ? { transparent: true } : {}),
        listener_filters: [
          original,
          ...(tproxy ? [{ name: "envoy.filters.listener.original_src", typed_config: source }] : []),
        ],
        filter_chains: [{ filters: [passTo(`inbound${family}`, "inbound")] }],
      },
    ],
    clusters: [
      dynamic(`outbound${family}`, {}),
      dynamic(`inbound${family}`, { upstream_bind_config: passthrough }),
      {
        name: `self${family}`,
        type: "STATIC",
        connect_timeout: "2s",
        load_assignment: {
          cluster_name: `self${family}`,
          endpoints: [{ lb_endpoints: [{ endpoint: { address: socket(addresses[family].pod, 8080) } }] }],
        },
      },
    ],
  };
}

/** Envoy, running as the proxy's user. */
export class EnvoyInPod implements AsyncDisposable {
  readonly #running: EnvoyProcess;
  /** Numbers of the lines that a test has asked for. */
  readonly #asked = new Set<number>();

  private constructor(running: EnvoyProcess) {
    this.#running = running;
  }

  /** Starts an Envoy and waits until it takes connections. */
  static async start(cable: Cable, binary: string, tproxy: boolean): Promise<EnvoyInPod> {
    const families = [familyConfig(4, tproxy), familyConfig(6, tproxy)];
    const static_resources = {
      listeners: families.flatMap(({ listeners }) => listeners),
      clusters: families.flatMap(({ clusters }) => clusters),
    };
    const { uid, gid } = users.proxy;
    const caps = ["--inh-caps=+net_admin", "--ambient-caps=+net_admin"];
    const as = ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", ...caps];
    const running = await startEnvoyProcess({
      ...{ binary, bootstrap: { static_resources }, components: ["main:info"] },
      args: ["--file-flush-interval-msec", "20"],
      through: ["ip", "netns", "exec", cable.pod, ...as],
    });
    const envoy = new EnvoyInPod(running);
    await envoy.line(/starting main dispatch loop/);
    return envoy;
  }

  /** Waits for a matching line that no test has asked for. */
  line(pattern: RegExp): Promise<void> {
    return this.#running.until(`line ${pattern}`, () => {
      const at = this.#lines().findIndex((line, at) => !this.#asked.has(at) && pattern.test(line));
      if (at >= 0) this.#asked.add(at);
      return at >= 0;
    });
  }

  /** Logged connections that no test has asked for. */
  connections(): string[] {
    return this.#lines().filter((line, at) => !this.#asked.has(at) && line.startsWith("CONN "));
  }

  /** Ends the Envoy; harmless after the end. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#running.stop("SIGKILL");
  }

  /** Whole lines of the output. */
  #lines(): string[] {
    return this.#running.output.split("\n").slice(0, -1);
  }
}
