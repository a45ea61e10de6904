/**
 * A real Envoy in a pod: two listeners that pass every connection on to its intended destination.
 *
 * Permissions: run, read, write (a temp folder).
 * @module
 */
import { addresses, type Cable, users } from "./pod.ts";
import { PATIENCE } from "../../patience.ts";

const cached = new URL("../../../.cache/envoy/envoy/_bin/envoy", import.meta.url).pathname;

/** Path of the Envoy binary, or undefined when there is none. */
export function envoyBinary(): string | undefined {
  const path = Deno.env.get("ENVOY") ?? cached;
  try {
    return Deno.statSync(path).isFile ? path : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

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
  #lines: string[] = [];
  #wake: (() => void) | undefined;
  #ended = false;

  private constructor(private readonly child: Deno.ChildProcess, private readonly folder: string) {}

  /** Starts an Envoy and waits until it takes connections. */
  static async start(cable: Cable, binary: string, tproxy: boolean): Promise<EnvoyInPod> {
    const folder = await Deno.makeTempDir();
    await Deno.chmod(folder, 0o755);
    const families = [familyConfig(4, tproxy), familyConfig(6, tproxy)];
    const static_resources = {
      listeners: families.flatMap(({ listeners }) => listeners),
      clusters: families.flatMap(({ clusters }) => clusters),
    };
    await Deno.writeTextFile(`${folder}/envoy.json`, JSON.stringify({ static_resources }));
    const { uid, gid } = users.proxy;
    const caps = ["--inh-caps=+net_admin", "--ambient-caps=+net_admin"];
    const as = ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", ...caps];
    const envoy = [
      binary,
      "-c",
      `${folder}/envoy.json`,
      "--concurrency",
      "1",
      "--use-dynamic-base-id",
      "--file-flush-interval-msec",
      "20",
    ];
    const child = new Deno.Command("ip", {
      args: ["netns", "exec", cable.pod, ...as, ...envoy, "--log-level", "info"],
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const running = new EnvoyInPod(child, folder);
    running.#collect(child.stdout);
    running.#collect(child.stderr);
    await running.line(/starting main dispatch loop|exiting/);
    return running;
  }

  async #collect(stream: ReadableStream<Uint8Array>): Promise<void> {
    let rest = "";
    for await (const part of stream.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + part).split("\n");
      rest = lines.pop() ?? "";
      this.#lines.push(...lines);
      this.#wake?.();
    }
  }

  /** Waits for a matching line, and removes the line. */
  async line(pattern: RegExp, timeout = PATIENCE): Promise<string> {
    const end = Date.now() + timeout;
    while (true) {
      const at = this.#lines.findIndex((line) => pattern.test(line));
      const [found] = at < 0 ? [] : this.#lines.splice(at, 1);
      if (found !== undefined) return found;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
        timer = setTimeout(resolve, Math.max(0, end - Date.now()));
      });
      await woken;
      clearTimeout(timer);
      if (Date.now() >= end) {
        throw new Error(`no line ${pattern} of Envoy; its last words:\n${this.#lines.slice(-8).join("\n")}`);
      }
    }
  }

  /** Logged connections that no test has asked for. */
  connections(): string[] {
    return this.#lines.filter((line) => line.startsWith("CONN "));
  }

  /** Ends the Envoy; harmless after the end. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    this.child.kill("SIGKILL");
    await this.child.status;
    await Deno.remove(this.folder, { recursive: true });
  }
}
