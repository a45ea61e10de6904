/**
 * The cost of the standard metrics for two real Envoys on a request's path: the client's and the server's.
 *
 * Permissions: run (Envoy, cat), net (loopback), read, write (a temporary folder), env (ENVOY).
 *
 * @module
 */
import http from "node:http";
import { peerMetadata } from "../../../../lib/agent/node/peer_metadata.ts";
import { startEnvoy } from "../../../../scripts/demo/envoy.ts";
import { envoyBinary, type EnvoyProcess } from "../../../../scripts/envoy.ts";
import { withPorts } from "../../../../scripts/ports.ts";
import { atMost, figure } from "../figures.ts";
import { spread } from "../result.ts";
import { until, usage } from "../usage.ts";
import type { RunOptions, Scenario } from "./scenario.ts";
import { withServed } from "./served.ts";

const REQUESTS = 20_000, IN_FLIGHT = 16;
/** Upper bound of CPU with metrics, relative to CPU without. */
const MOST = 1.25;

/** Two ways to the same application, with metrics and without. */
interface Way {
  readonly port: number;
  readonly proxies: readonly EnvoyProcess[];
}

function configuration(here: number, there: number, application: number): string {
  const object = (kind: string, spec: object) =>
    JSON.stringify({
      apiVersion: "networking.istio.io/v1",
      kind,
      metadata: { name: "app", namespace: "bench" },
      spec,
    });
  const port = (number: number) => ({ number, protocol: "HTTP", name: "http" });
  return [
    object("ServiceEntry", {
      ...{ hosts: ["app.bench.test"], location: "MESH_INTERNAL", resolution: "STATIC" },
      ports: [{ ...port(here), targetPort: there }],
      endpoints: [{ address: "127.0.0.1" }],
    }),
    object("Sidecar", {
      workloadSelector: { labels: { app: "server" } },
      egress: [{ hosts: ["~/*"] }],
      ingress: [{
        ...{ port: port(there), defaultEndpoint: `127.0.0.1:${application}` },
        ...{ bind: "127.0.0.1", captureMode: "NONE" },
      }],
    }),
  ].join("\n---\n");
}

/** Runs a server with both proxies until `use` ends. */
async function withWay<T>(
  measures: boolean,
  application: number,
  [here = 0, there = 0]: readonly number[],
  use: (way: Way) => Promise<T>,
): Promise<T> {
  const files = [["app.yaml", configuration(here, there, application)]] as const;
  const mesh = measures ? { defaultProviders: { metrics: ["prometheus"] } } : {};
  return await withServed(files, mesh, async ({ folder, grpc }) => {
    await using proxies = new AsyncDisposableStack();
    const started: EnvoyProcess[] = [];
    for (const [name, port] of [["server", there], ["client", here]] as const) {
      const labels = { app: name, version: "v1" };
      const peer = peerMetadata({ workload: name, namespace: "bench", cluster: "c1", labels, additional: [] });
      const identity = {
        ...{ type: "sidecar", name, namespace: "bench", address: "127.0.0.1", labels } as const,
        metadata: { MESH_PEER: peer },
      };
      const proxy = await startEnvoy({
        ...{ binary: envoyBinary(), folder, identity, discoveryPort: grpc },
        variables: { MESH_PEER: peer.header },
      });
      proxies.use(proxy);
      started.push(proxy);
      await proxy.ready([`127.0.0.1:${port}`]);
    }
    return await use({ port: here, proxies: started });
  });
}

/** Requests over kept connections. */
async function ask(port: number, count: number): Promise<void> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: IN_FLIGHT });
  const one = () =>
    new Promise<number>((resolve, reject) => {
      const request = http.get({ agent, host: "127.0.0.1", port, headers: { host: "app.bench.test" } }, (response) => {
        response.resume().on("end", () => resolve(response.statusCode ?? 0)).on("error", reject);
      });
      request.on("error", reject);
    });
  let left = count;
  const worker = async () => {
    while (left-- > 0) {
      const status = await one();
      if (status !== 200) throw new Error(`an answer with status ${status}, expected 200`);
    }
  };
  try {
    await Promise.all(Array.from({ length: IN_FLIGHT }, worker));
  } finally {
    agent.destroy();
  }
}

/** CPU seconds of both proxies for the requests. */
async function cpuOf({ port, proxies }: Way, count: number): Promise<number> {
  const used = async () => {
    const uses = await Promise.all(proxies.map(({ pid }) => usage(pid)));
    return uses.reduce((sum, { cpu }) => sum + cpu, 0);
  };
  await ask(port, count / 10);
  const before = await used();
  await ask(port, count);
  return await used() - before;
}

async function isCounted({ proxies }: Way): Promise<boolean> {
  const pages = await Promise.all(proxies.map((proxy) => proxy.page("stats/prometheus")));
  return pages.every((page) => page?.includes("envoy_istio_requests_total{"));
}

async function run({ calibrator, quick, rounds }: RunOptions) {
  const count = quick ? REQUESTS / 10 : REQUESTS;
  const app = http.createServer((_, response) => response.end("ok"));
  await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve));
  const { port } = app.address() as { port: number };
  try {
    return await withPorts(
      4,
      (ports) =>
        withWay(false, port, ports.slice(0, 2), (off) =>
          withWay(true, port, ports.slice(2), async (on) => {
            const pairs: { off: number; on: number }[] = [];
            const { calibration } = await calibrator.beside(async () => {
              for (let i = 0; i < rounds; i++) pairs.push({ off: await cpuOf(off, count), on: await cpuOf(on, count) });
            });
            await until("both proxies count requests", () => isCounted(on));
            const middle = (values: readonly number[]) => spread(values).median;
            return [{
              id: "proxy-metrics",
              work: `${count} requests pass the client's Envoy and the server's, ${IN_FLIGHT} at a time`,
              istio: "not measured",
              figures: [
                figure("of both, without metrics", "CPU s", middle(pairs.map(({ off }) => off))),
                figure("with the standard metrics", "CPU s", middle(pairs.map(({ on }) => on))),
                figure("of that without", "x", middle(pairs.map(({ off, on }) => on / off)), atMost(MOST)),
              ],
              calibrations: [calibration],
            }];
          })),
    );
  } finally {
    app.closeAllConnections();
    app.close();
  }
}

export const proxyMetrics: Scenario = { name: "proxy-metrics", run };
