/**
 * The first request to a host by a real Envoy that asks, beside an Envoy with everything.
 *
 * Permissions: run (Envoy, cat), net (loopback), read, write (a temporary folder), env (ENVOY).
 *
 * @module
 */
import { Agent, request } from "node:http";
import { startEnvoy } from "../../../../scripts/demo/envoy.ts";
import { envoyBinary } from "../../../../scripts/envoy.ts";
import { withPorts } from "../../../../scripts/ports.ts";
import { configuration } from "../configuration.ts";
import { atMost, figure } from "../figures.ts";
import { quantile, type Row } from "../result.ts";
import { until } from "../usage.ts";
import { type RunOptions, type Scenario, shapeOf, USUAL } from "./scenario.ts";
import { withServed } from "./served.ts";

/** Hosts that a workload calls, one after the other, beside the services of the mesh. */
const HOSTS = 200;

const hostOf = (index: number) => `first-${index}.example`;

/** Services with one answering workload. */
function answering(count: number, port: number): string {
  const documents = Array.from({ length: count }, (_, index) =>
    JSON.stringify({
      apiVersion: "networking.mesh.io/v1",
      kind: "ServiceEntry",
      metadata: { name: `first-${index}`, namespace: "ns-0" },
      spec: {
        ...{ hosts: [hostOf(index)], location: "MESH_INTERNAL", resolution: "STATIC" },
        ports: [{ number: 80, name: "http", protocol: "HTTP", targetPort: port }],
        endpoints: [{ address: "127.0.0.1" }],
      },
    }));
  return documents.join("\n---\n");
}

/** Milliseconds of a request through an Envoy. */
function ask(door: number, host: string, agent: Agent): Promise<number> {
  const started = performance.now();
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const asked = request({ host: "127.0.0.1", port: door, headers: { host }, agent }, (answer) => {
    answer.resume().on("end", () => {
      if (answer.statusCode === 200) resolve(performance.now() - started);
      else reject(new Error(`${host}: got ${answer.statusCode}, expected 200`));
    });
  });
  asked.on("error", reject).end();
  return promise;
}

/** Milliseconds of the first request to each host. */
async function firstRequests(
  asks: boolean,
  { quick }: RunOptions,
  [outbound = 0, inbound = 0, door = 0]: readonly number[],
): Promise<number[]> {
  const count = quick ? HOSTS / 10 : HOSTS;
  const app = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => new Response("here"));
  const shape = shapeOf(quick ? USUAL / 10 : USUAL);
  const files = [...configuration(shape), ["first.yaml", answering(count, app.addr.port)] as const];
  const mesh = { proxyListenPort: outbound, proxyInboundListenPort: inbound };
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  try {
    return await withServed(files.filter(([, text]) => text !== ""), mesh, async ({ folder, grpc }) => {
      await using envoy = await startEnvoy({
        ...{ binary: envoyBinary(), folder, discoveryPort: grpc, interceptionMode: "REDIRECT" },
        identity: {
          ...{ type: "sidecar", name: "client", namespace: "ns-0", address: "127.0.0.1", labels: {} },
          metadata: { HTTP_PROXY_PORT: String(door), ...asks && { ON_DEMAND: "true" } },
        },
      });
      await envoy.ready([`127.0.0.1:${door}`]);
      // The first host of all is not counted: the code of the server is compiled with it.
      await until("an answer", () => ask(door, hostOf(0), agent).then(() => true, () => false));
      const times: number[] = [];
      for (let index = 1; index < count; index++) times.push(await ask(door, hostOf(index), agent));
      return times;
    });
  } finally {
    agent.destroy();
    await app.shutdown();
  }
}

async function run(options: RunOptions): Promise<Row[]> {
  const found: { times: readonly number[]; calibration: number }[] = [];
  for (const asks of [false, true]) {
    const { result: times, calibration } = await options.calibrator.beside(() =>
      withPorts(3, (ports) => firstRequests(asks, options, ports))
    );
    found.push({ times, calibration });
  }
  const [eager, asking] = found.map(({ times }) => times);
  const more = (part: number) => quantile(asking!, part) - quantile(eager!, part);
  return [{
    id: "first-requests",
    work: `an Envoy that asks calls ${asking!.length} hosts for the first time, one after the other`,
    istio: "not measured",
    figures: [
      figure("more than with everything, median", "ms", more(0.5), atMost(10)),
      figure("more than with everything, 99 %", "ms", more(0.99), atMost(30)),
      figure("with everything, median", "ms", quantile(eager!, 0.5)),
      figure("with everything, 99 %", "ms", quantile(eager!, 0.99)),
    ],
    calibrations: [found[1]!.calibration],
  }];
}

export const firstRequestRows: Scenario = { name: "first-requests", run };
