/**
 * The memory of a real Envoy beside a workload, by the number of services that Envoy gets.
 *
 * Permissions: run (Envoy, cat), net (loopback), read, write (a temporary folder), env (ENVOY).
 *
 * @module
 */
import { request } from "node:http";
import { startEnvoy } from "../../../../scripts/demo/envoy.ts";
import { envoyBinary } from "../../../../scripts/envoy.ts";
import { withPorts } from "../../../../scripts/ports.ts";
import { configuration, service } from "../configuration.ts";
import { figure } from "../figures.ts";
import type { Row } from "../result.ts";
import { until, untilIdle, usage } from "../usage.ts";
import { LARGE, type RunOptions, type Scenario, shapeOf, USUAL } from "./scenario.ts";
import { withServed } from "./served.ts";

const SERVICES = [0, USUAL, LARGE];

/** Services that the workload of a sidecar calls that asks. */
const CALLED = 5;

interface Rest {
  readonly services: number;
  /** The Envoy gets {@linkcode CALLED} services, because its workload calls them. */
  readonly asks: boolean;
}

/** Resident memory of an Envoy that rests, MiB. */
async function resident(
  { services, asks }: Rest,
  [outbound = 0, inbound = 0, door = 0]: readonly number[],
): Promise<number> {
  const shape = shapeOf(services);
  const files = [...configuration(shape)].filter(([, text]) => text !== "");
  const mesh = { proxyListenPort: outbound, proxyInboundListenPort: inbound };
  return await withServed(files, mesh, async ({ folder, grpc }) => {
    await using envoy = await startEnvoy({
      ...{ binary: envoyBinary(), folder, discoveryPort: grpc, interceptionMode: "REDIRECT" },
      identity: {
        ...{ type: "sidecar", name: "client", namespace: "ns-0", address: "127.0.0.1", labels: {} },
        metadata: asks ? { ON_DEMAND: "true", HTTP_PROXY_PORT: String(door) } : {},
      },
    });
    await envoy.ready([`127.0.0.1:${outbound}`]);
    const called = Array.from({ length: Math.min(CALLED, services) }, (_, index) => service(shape, index).host);
    const names = asks ? called : Array.from({ length: services }, (_, index) => service(shape, index).host);
    const calls = asks ? sendTo(door, called) : undefined;
    await until("Envoy has the clusters", async () => {
      const page = await envoy.page("clusters") ?? "";
      return names.every((host) => page.includes(`|${host}::`));
    });
    await calls?.end();
    await untilIdle(envoy.pid);
    return (await usage(envoy.pid)).resident;
  });
}

/** Sends requests to hosts. Nobody answers, because the endpoints of the services do not exist. */
function sendTo(port: number, hosts: readonly string[]): { end(): Promise<void> } {
  const ended = new AbortController();
  const sent = hosts.map((host) =>
    new Promise<void>((over) => {
      const asked = request({ host: "127.0.0.1", port, headers: { host }, signal: ended.signal });
      asked.on("error", () => over()).on("response", (answer) => answer.resume().on("close", over)).end();
    })
  );
  return {
    async end() {
      ended.abort();
      await Promise.all(sent);
    },
  };
}

function rests(quick: boolean): Rest[] {
  const sizes = quick ? SERVICES.map((count) => count / 10) : SERVICES;
  return [
    ...sizes.map((services) => ({ services, asks: false })),
    ...sizes.filter((services) => services > 0).map((services) => ({ services, asks: true })),
  ];
}

async function run({ calibrator, quick }: RunOptions): Promise<Row[]> {
  const rows: Row[] = [];
  for (const rest of rests(quick)) {
    const { services, asks } = rest;
    let memory = 0;
    const { calibration } = await calibrator.beside(async () => {
      memory = await withPorts(3, (ports) => resident(rest, ports));
    });
    rows.push({
      id: `envoy-memory-${asks ? "asks-" : ""}${services}`,
      work: asks
        ? `an Envoy that asks rests with ${CALLED} called services of ${services}`
        : `an Envoy rests with the configuration of ${services} services`,
      istio: "not measured",
      figures: [figure("resident", "MiB", memory)],
      calibrations: [calibration],
    });
  }
  return rows;
}

export const envoyMemory: Scenario = { name: "envoy-memory", run };
