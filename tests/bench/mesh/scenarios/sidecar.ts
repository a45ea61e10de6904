/**
 * An agent next to a workload: memory at rest, start, relaying, renewals, and names.
 *
 * Permissions: run (this runtime, Envoy, cat, sh), net (loopback), read, write (temporary folders), env (PATH, HOME,
 * ENVOY).
 *
 * @module
 */
import type { AgentProcess } from "../../../../scripts/demo/agent.ts";
import { IdentityMesh, type IdentityWorkload, SHORT_LEAVES } from "../../../../scripts/demo/identity_mesh.ts";
import { withPorts } from "../../../../scripts/ports.ts";
import { agentProgram, ownMemory, type StandIn, standInEnvoy } from "../agent_child.ts";
import { configuration, namespaceFile, service, type Shape } from "../configuration.ts";
import { atMost, DEBOUNCE, figure } from "../figures.ts";
import { RelayedProxy } from "../relayed_proxy.ts";
import { askNames, isAnswered } from "../name_load.ts";
import { type Row, spread } from "../result.ts";
import { delay, until, untilIdle, usage } from "../usage.ts";
import type { RunOptions, Scenario } from "./scenario.ts";

/** Istio's agent. This memory and the launch time are from another machine. */
const ISTIO_MEMORY = "8 MB of its own, 34 MB resident";
/** Number of services, whose configuration is 5 MB per sidecar. */
const SERVICES = 1600;
/** An agent returns the memory of its start after 10 s. The engine collects the garbage of later work within 20 s. */
const SETTLED = 12_000, AT_REST = 22_000;
const ROUNDS = 10, RENEWALS = 20, IN_FLIGHT = 32, ASKED = 5000;

/** A mesh, with a way to start agents. */
interface Bench {
  readonly mesh: IdentityMesh;
  readonly ports: readonly number[];
  readonly options: RunOptions;
  start(workload: Omit<IdentityWorkload, "ports" | "program">, isReal: boolean): Promise<[AgentProcess, StandIn]>;
}

async function withMesh<T>(
  options: RunOptions,
  files: ReadonlyMap<string, string>,
  use: (bench: Bench) => Promise<T>,
): Promise<T> {
  const program = await agentProgram(options.tree);
  return await withPorts(6, async ([port = 0, ...ports]) => {
    const folder = await Deno.makeTempDir({ prefix: "mesh-bench-" });
    // Envoy's substitute is not a workload of `demo`: it subscribes as the sidecar of a service of the mesh.
    const env = { PILOT_ENABLE_XDS_IDENTITY_CHECK: "false" };
    await using mesh = await IdentityMesh.start({ port, env, files: Object.fromEntries(files) });
    let count = 0;
    const bench: Bench = {
      ...{ mesh, ports, options },
      async start(workload, isReal) {
        const place = `${folder}/${count++}`;
        await Deno.mkdir(place);
        const standIn = await standInEnvoy(place, isReal);
        const env = { ...workload.env, PATH: standIn.path };
        return [await mesh.agent({ ...workload, ports: ports.slice(0, 4), program, env }), standIn];
      },
    };
    try {
      return await use(bench);
    } catch (error) {
      throw mesh.failure(error);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

/** With a real Envoy: time and CPU until Envoy's launch, for several starts, then memory of the last agent. */
function startAndRest(options: RunOptions): Promise<Row[]> {
  return withMesh(options, new Map(), async ({ start, ports }) => {
    const ready = () => fetch(`http://127.0.0.1:${ports[2]}/healthz/ready`).then(({ ok }) => ok, () => false);
    const one = async () => {
      const began = Date.now();
      const [agent, standIn] = await start({ name: "client" }, true);
      await until("the proxy was ready", ready);
      const { at, cpu } = (await standIn.launched())!;
      return { agent, ms: at - began, cpu };
    };
    // The first start on a machine compiles for later starts.
    await (await one()).agent[Symbol.asyncDispose]();
    const starts: Awaited<ReturnType<typeof one>>[] = [];
    const { calibration } = await options.calibrator.beside(async () => {
      for (let i = 0; i < options.rounds; i++) {
        await starts.at(-1)?.agent[Symbol.asyncDispose]();
        starts.push(await one());
      }
    });
    const { pid } = starts.at(-1)!.agent;
    await delay(SETTLED);
    await untilIdle(pid);
    const memory = await ownMemory(pid);
    return [{
      id: "sidecar-start",
      work: "an agent starts beside Envoy, with compiled code of a start before, until it launches Envoy",
      istio: "not measured",
      figures: [
        figure("", "CPU s", spread(starts.map(({ cpu }) => cpu)).median),
        figure("", "ms", spread(starts.map(({ ms }) => ms)).median, atMost(300)),
      ],
      calibrations: [calibration],
    }, {
      id: "sidecar-idle",
      work: "an agent beside an idle Envoy, with a certificate, over TLS",
      istio: ISTIO_MEMORY,
      figures: [
        figure("of its own", "MiB", memory.anonymous, atMost(30)),
        figure("resident", "MiB", memory.resident, atMost(75)),
      ],
      calibrations: [calibration],
    }];
  });
}

/** Another client takes Envoy's place, because Envoy's own work on 5 MB would disturb the measurement of the agent. */
function relaying(options: RunOptions): Promise<Row[]> {
  const services = options.quick ? SERVICES / 10 : SERVICES;
  const shape: Shape = { services, endpoints: 10, namespaces: 10, routed: services / 10 };
  return withMesh(options, configuration(shape), async ({ mesh, start, ports }) => {
    const env = { MESH_META_ENABLE_DNS_SERVER: "true", DNS_PROXY_ADDR: `127.0.0.1:${ports[4]}` };
    const [agent, standIn] = await start({ name: "client", env }, false);
    await until("Envoy was launched", async () => await standIn.launched() !== undefined);
    await until("it had a certificate", () => agent.output.includes("certificate valid until"));
    await delay(SETTLED);
    const { pid } = agent;
    const cpu = async () => (await usage(pid)).cpu;
    const proxy = new RelayedProxy(`${agent.folder}/etc/mesh/proxy/XDS`, shape);
    const connect = await options.calibrator.beside(async () => {
      const before = await cpu();
      await proxy.connect();
      await untilIdle(pid);
      return { cpu: await cpu() - before, bytes: proxy.bytes };
    });
    const edit = await options.calibrator.beside(async () => {
      const before = await cpu();
      const times: number[] = [];
      for (let i = 0; i < ROUNDS; i++) {
        const canary = `canary-${100 + i}`;
        const seen = proxy.sees(canary);
        await mesh.write("ns-0.yaml", namespaceFile(shape, 0, { canary }));
        const began = performance.now();
        await seen;
        times.push(performance.now() - began);
      }
      await untilIdle(pid);
      return { cpu: (await cpu() - before) / ROUNDS, ms: spread(times).median };
    });
    await delay(AT_REST);
    const memory = await ownMemory(pid);
    const port = ports[4]!;
    const names = Array.from({ length: 100 }, (_, i) => service(shape, i).host);
    await until("names were answered", () => isAnswered(port, names[0]!));
    const asked = await options.calibrator.beside(async () => {
      await askNames(port, names, IN_FLIGHT, 1000);
      const before = await cpu();
      const rate = await askNames(port, names, IN_FLIGHT, ASKED);
      return { rate, cpu: (await cpu() - before) / (rate * ASKED / 1000) * 100_000 };
    });
    proxy.stop();
    return [{
      id: "sidecar-relay",
      work: `an agent relays the configuration of ${services} services to its proxy`,
      istio: "not measured",
      figures: [
        figure("", "CPU s", connect.result.cpu),
        figure("to the proxy", "MB", connect.result.bytes / 1e6),
        figure("of its own when it rests", "MiB", memory.anonymous),
      ],
      calibrations: [connect.calibration],
    }, {
      id: "sidecar-rule",
      work: `of ${services} services one route rule changes`,
      istio: "not measured",
      figures: [
        figure("of the agent", "CPU s", edit.result.cpu),
        figure("to its proxy", "ms", edit.result.ms, { waited: DEBOUNCE }),
      ],
      calibrations: [edit.calibration],
    }, {
      id: "sidecar-names",
      work: `an agent answers names of ${services} services, ${IN_FLIGHT} questions in flight over UDP`,
      istio: "not measured",
      figures: [
        figure("", "queries/s", asked.result.rate),
        figure("for 100,000 queries", "CPU s", asked.result.cpu),
      ],
      calibrations: [asked.calibration],
    }];
  });
}

/** Renewals take half a day with the usual lifetime, and a second here. */
function renewing(options: RunOptions): Promise<Row[]> {
  return withMesh(options, new Map(), async ({ start }) => {
    const [agent] = await start({ name: "client", env: SHORT_LEAVES }, false);
    const renewed = () => agent.output.split("certificate valid until").length - 1;
    await until("it had a certificate", () => renewed() > 1);
    await delay(SETTLED);
    const wanted = options.quick ? 2 : RENEWALS;
    const { result, calibration } = await options.calibrator.beside(async () => {
      const [before, had] = [(await usage(agent.pid)).cpu, renewed()];
      await until(`${wanted} renewals`, () => renewed() >= had + wanted);
      return ((await usage(agent.pid)).cpu - before) / (renewed() - had) * 100;
    });
    const memory = await ownMemory(agent.pid);
    return [{
      id: "sidecar-renewals",
      work: "an agent renews a certificate of P-256 again and again",
      istio: "not measured",
      figures: [
        figure("for 100 renewals, of which there are two a day", "CPU s", result),
        figure("of its own afterwards", "MiB", memory.anonymous),
      ],
      calibrations: [calibration],
    }];
  });
}

export const sidecar: Scenario = {
  name: "sidecar",
  run: async (options) => [...await startAndRest(options), ...await relaying(options), ...await renewing(options)],
};
