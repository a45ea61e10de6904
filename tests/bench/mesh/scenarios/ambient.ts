/**
 * Node tunnels of a large mesh: the start, the first connect of all, a reconnect of all, and the change of one pod.
 *
 * Permissions: the permissions of `../server_child.ts`, net (loopback), write (temporary folder).
 *
 * @module
 */
import { atMost, DEBOUNCE, delayFigure, figure } from "../figures.ts";
import { TunnelLoad, type TunnelStep } from "../load/tunnels.ts";
import { editCost, type Figure, quantile } from "../result.ts";
import { type ServerChild, startServer } from "../server_child.ts";
import type { RunOptions, Scenario } from "./scenario.ts";

const FULL = { workloads: 40_000, services: 4_000, tunnels: 100 };

/** Pods in a file. */
const PODS_A_FILE = 400;

/** 40,000 workloads, 4,000 services and 100 tunnels. */
export const ambient: Scenario = {
  name: "ambient-40000",
  async run(options) {
    const by = options.quick ? 20 : 1;
    const size = {
      workloads: FULL.workloads / by,
      services: FULL.services / by,
      tunnels: Math.ceil(FULL.tunnels / by),
    };
    const folder = await Deno.makeTempDir({ prefix: "mesh-bench-" });
    try {
      for (const [name, text] of manifests(size)) await Deno.writeTextFile(`${folder}/${name}`, text);
      options.calibrator.pause();
      const { result, calibration } = await options.calibrator.beside(() => measured(folder, size, options));
      return [{
        id: "ambient-40000",
        work: `${size.workloads} workloads, ${size.services} services, ${size.tunnels} node tunnels`,
        istio: "not measured",
        figures: result,
        calibrations: [calibration],
      }];
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  },
};

type Size = typeof FULL;

async function measured(folder: string, size: Size, { tree, profile, rounds }: RunOptions): Promise<Figure[]> {
  const server = await startServer({ folder, manifests: true }, {
    ambient: true,
    analysis: false,
    ...tree !== undefined && { tree },
    ...profile !== undefined && { profile },
  });
  const load = new TunnelLoad(server.target, size.tunnels);
  try {
    await server.idle();
    const first = await step(server, () => load.connect());
    const total = size.tunnels * (size.workloads + size.services);
    if (first.resources !== total) {
      throw new Error(`${first.resources} of ${total} resources came at the first connect`);
    }
    load.disconnect();
    await server.idle();
    const again = await step(server, () => load.connect());
    const edits = [];
    for (let i = 0; i < rounds; i++) {
      const edit = async () => {
        await Deno.writeTextFile(`${folder}/next`, pod(0, i % 2 === 0));
        await Deno.rename(`${folder}/next`, `${folder}/pod-0.yaml`);
      };
      edits.push(await step(server, () => load.edited(edit)));
    }
    return [
      figure("until ready", "s", server.start.seconds),
      figure("resident with all tunnels", "MiB", first.resident, atMost(300)),
      figure("first connect of all", "CPU s", first.cpu),
      figure("first connect, last tunnel", "s", first.last / 1000),
      figure("reconnect of all", "CPU s", again.cpu, atMost(1)),
      figure("sent again at the reconnect", "resources", again.resources, atMost(0)),
      figure("one pod's change to the last tunnel", "ms", quantile(edits.map(({ last }) => last), 0.5), {
        ...{ atMost: 150, waited: DEBOUNCE },
      }),
      figure("one pod's change", "CPU s", editCost(edits.map(({ cpu }) => cpu)).usual, atMost(0.02)),
      delayFigure(first.delay, again.delay, ...edits.map(({ delay }) => delay)),
    ];
  } finally {
    load.disconnect();
    await server.stop();
  }
}

/** The cost of a step for the server, until the server is at rest. */
async function step(server: ServerChild, run: () => Promise<TunnelStep>) {
  const before = await server.measure();
  const found = await run();
  await server.idle();
  const { cpu, resident, delay } = await server.measure();
  return { ...found, cpu: cpu - before.cpu, resident, delay };
}

/** Names and texts of the files of a mesh. The first pod has a file of its own. */
function* manifests({ workloads, services }: Size): Generator<readonly [name: string, text: string]> {
  for (let from = 0; from < services; from += PODS_A_FILE) {
    const some = Array.from({ length: Math.min(PODS_A_FILE, services - from) }, (_, i) => service(from + i));
    yield [`services-${from}.yaml`, some.join("---")];
  }
  yield ["pod-0.yaml", pod(0, false)];
  for (let from = 1; from < workloads; from += PODS_A_FILE) {
    const some = Array.from(
      { length: Math.min(PODS_A_FILE, workloads - from) },
      (_, i) => pod(from + i, true, services),
    );
    yield [`pods-${from}.yaml`, some.join("---")];
  }
}

const namespaceOf = (service: number) => `ns-${service % 100}`;

function service(i: number): string {
  return `
apiVersion: v1
kind: Service
metadata: { name: svc-${i}, namespace: ${namespaceOf(i)} }
spec: { clusterIP: 10.96.${i >> 8}.${i & 255}, selector: { app: svc-${i} }, ports: [{ name: http, port: 80 }] }
`;
}

function pod(i: number, isCaptured: boolean, services = 1): string {
  const of = i % services;
  const annotations = isCaptured ? "{ ambient.istio.io/redirection: enabled }" : "{}";
  return `
apiVersion: v1
kind: Pod
metadata: { name: pod-${i}, namespace: ${
    namespaceOf(of)
  }, labels: { app: svc-${of}, version: v1 }, annotations: ${annotations} }
spec: { nodeName: node-${i % 100}, serviceAccountName: svc-${of}, containers: [] }
status: { phase: Running, podIP: 10.${i >> 16}.${i >> 8 & 255}.${
    i & 255
  }, conditions: [{ type: Ready, status: "True" }] }
`;
}
