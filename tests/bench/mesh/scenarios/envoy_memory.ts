/**
 * The memory of a real Envoy beside a workload, by the number of services that Envoy gets. No request is sent.
 *
 * Permissions: run (Envoy, cat), net (loopback), read, write (a temporary folder), env (ENVOY).
 *
 * @module
 */
import { startEnvoy } from "../../../../scripts/demo/envoy.ts";
import { envoyBinary } from "../../../../scripts/envoy.ts";
import { withPorts } from "../../../../scripts/ports.ts";
import { configuration } from "../configuration.ts";
import { figure } from "../figures.ts";
import type { Row } from "../result.ts";
import { until, untilIdle, usage } from "../usage.ts";
import { LARGE, type RunOptions, type Scenario, shapeOf, USUAL } from "./scenario.ts";
import { withServed } from "./served.ts";

const SERVICES = [0, USUAL, LARGE];

/** Resident memory of an Envoy that rests with the configuration of some services, MiB. */
async function resident(services: number, [outbound = 0, inbound = 0]: readonly number[]): Promise<number> {
  const files = [...configuration(shapeOf(services))].filter(([, text]) => text !== "");
  const mesh = { proxyListenPort: outbound, proxyInboundListenPort: inbound };
  return await withServed(files, mesh, async ({ folder, grpc }) => {
    await using envoy = await startEnvoy({
      ...{ binary: envoyBinary(), folder, discoveryPort: grpc, interceptionMode: "REDIRECT" },
      identity: { type: "sidecar", name: "client", namespace: "ns-0", address: "127.0.0.1", labels: {} },
    });
    await envoy.ready([`127.0.0.1:${outbound}`]);
    await until("Envoy has the clusters of all services", async () => {
      const page = await envoy.page("stats?filter=cluster_manager.active_clusters");
      return Number(/active_clusters: (\d+)/.exec(page ?? "")?.[1]) >= services;
    });
    await untilIdle(envoy.pid);
    return (await usage(envoy.pid)).resident;
  });
}

async function run({ calibrator, quick }: RunOptions): Promise<Row[]> {
  const rows: Row[] = [];
  for (const services of quick ? SERVICES.map((count) => count / 10) : SERVICES) {
    let memory = 0;
    const { calibration } = await calibrator.beside(async () => {
      memory = await withPorts(2, (ports) => resident(services, ports));
    });
    rows.push({
      id: `envoy-memory-${services}`,
      work: `an Envoy rests with the configuration of ${services} services`,
      istio: "not measured",
      figures: [figure("resident", "MiB", memory)],
      calibrations: [calibration],
    });
  }
  return rows;
}

export const envoyMemory: Scenario = { name: "envoy-memory", run };
