/**
 * The demo: a mesh of real Envoys on one machine, configured by files that are edited while traffic runs.
 *
 *     deno task demo           shows it and ends by itself
 *     deno task demo --keep    stays, for you to edit the files
 *     deno task demo --secure  shows identities, mutual TLS and who is refused (`./secure.ts`)
 *     deno task demo --cluster installs the mesh on a real cluster, and runs a shop there (`./cluster.ts`)
 *
 *     requests ─> gateway Envoy ─┬─> sidecar Envoy ─> hello v1
 *                                └─> sidecar Envoy ─> hello v2
 *
 * Permissions: run (deno, envoy), net (loopback), read and write (a temporary folder), env (ENVOY), sys nothing else.
 *
 * @module
 */
import { withPorts } from "../ports.ts";
import { envoyBinary, type EnvoyProcess } from "../envoy.ts";
import { playCluster } from "./cluster.ts";
import { startEnvoy } from "./envoy.ts";
import { allocated, CROWD, crowdFile } from "./on_demand.ts";
import { playSecure, SECURE_PORTS } from "./secure.ts";
import { type DemoServer, startServer } from "./server.ts";
import { type DemoService, startService } from "./service.ts";
import { type Counts, request, Traffic } from "./traffic.ts";
import { type DemoWorld, gatewayFile, routesFile, serviceFile, type Weights } from "./world.ts";

const say = (text = "") => console.log(text);

/** All running parts, in order of start. */
class Stage {
  readonly folder = Deno.makeTempDirSync({ prefix: "mesh-demo-" });
  readonly config = `${this.folder}/config`;
  readonly #parts: { readonly name: string; stop(): Promise<unknown> }[] = [];

  /** Remembers a starting part, to stop the part even if the demo ends before the part has started. */
  async keep<T extends { stop(): Promise<unknown> }>(name: string, starting: T | Promise<T>): Promise<T> {
    this.#parts.push({
      name,
      // A part that failed to start has rejected its promise and needs no stop.
      stop: () => Promise.resolve(starting).then((part) => part.stop(), () => {}),
    });
    return await starting;
  }

  /** Ends everything, last started first. */
  async close(): Promise<void> {
    for (const { stop } of this.#parts.reverse()) await stop();
    await Deno.remove(this.folder, { recursive: true });
  }

  /** Writes a file of the configuration atomically, as editors do. */
  async write(name: string, text: string): Promise<void> {
    const temporary = `${this.folder}/${name}.new`;
    await Deno.writeTextFile(temporary, text);
    await Deno.rename(temporary, `${this.config}/${name}`);
  }
}

interface Running {
  readonly world: DemoWorld;
  readonly server: DemoServer;
  readonly traffic: Traffic;
  readonly envoys: readonly EnvoyProcess[];
}

async function raise(stage: Stage, ports: readonly number[]): Promise<Running> {
  const binary = envoyBinary();
  const services: DemoService[] = await Promise.all(
    ["v1", "v2"].map((version) => stage.keep(version, startService(version))),
  );
  const [gatewayPort, ...sidecarPorts] = ports as [number, ...number[]];
  const world: DemoWorld = {
    gatewayPort,
    sidecars: services.map((service, i) => ({
      version: `v${i + 1}`,
      address: `127.0.1.${i + 1}`,
      port: sidecarPorts[i]!,
      appPort: service.port,
    })),
  };
  await Deno.mkdir(stage.config);
  await stage.write("service.yaml", serviceFile(world));
  await stage.write("gateway.yaml", gatewayFile(world));
  await stage.write("routes.yaml", routesFile({ v1: 90, v2: 10 }));
  say("   requests ─> gateway Envoy ─┬─> sidecar Envoy ─> hello v1");
  say("                              └─> sidecar Envoy ─> hello v2\n");
  say(`1  the mesh is three files, service.yaml, gateway.yaml and routes.yaml, in ${stage.config}`);
  const server = await stage.keep("server", startServer(stage.config));
  say(
    `2  pilot-discovery serves xDS on 127.0.0.1:${server.grpcPort}, pages on http://127.0.0.1:${server.httpPort}/debug`,
  );
  const proxies = [
    { type: "router", name: "door", address: "127.0.0.1", port: gatewayPort, labels: { app: "door" } },
    ...world.sidecars.map(({ version, address, port }) => (
      { type: "sidecar", name: `hello-${version}`, address, port, labels: { app: "hello", version } } as const
    )),
  ] as const;
  const envoys = await Promise.all(proxies.map(({ port: _, ...properties }) => {
    const identity = { ...properties, namespace: "demo" };
    const discoveryPort = server.grpcPort;
    return stage.keep(properties.name, startEnvoy({ binary, folder: stage.folder, discoveryPort, identity }));
  }));
  say(`3  three Envoys run: the gateway on http://127.0.0.1:${gatewayPort}/ and a sidecar for each version`);
  await Promise.all(envoys.map((envoy, i) => envoy.ready([`${proxies[i]!.address}:${proxies[i]!.port}`])));
  await untilAnswered(`http://127.0.0.1:${gatewayPort}/`);
  const traffic = await stage.keep("traffic", new Traffic(gatewayPort));
  traffic.start();
  return { world, server, traffic, envoys };
}

async function untilAnswered(url: string): Promise<void> {
  const deadline = performance.now() + 90_000;
  while (await request(url) === undefined) {
    if (performance.now() > deadline) throw new Error(`no answer from ${url} in time`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

async function show({ server, traffic }: Running, stage: Stage): Promise<void> {
  say("4  requests run all the time; routes.yaml has the weights 90 and 10; of 1,000 requests:");
  say(`     ${counted(await traffic.sample(1000))}`);
  await stage.write("routes.yaml", routesFile({ v1: 100, v2: 0 }));
  await traffic.streak("v1", 200);
  say("5  an edit: routes.yaml says 100 and 0 now; of the next 300 requests:");
  say(`     ${counted(await traffic.sample(300))}`);
  const toV2 = await edit(stage, traffic, { v1: 0, v2: 100 }, "v2");
  say(
    `6  an edit: routes.yaml says 0 and 100 now; the first answer of v2 came ${toV2} after the edit; of 300 requests:`,
  );
  say(`     ${counted(await traffic.sample(300))}`);
  const refusal = server.line("refused");
  traffic.take();
  await stage.write("routes.yaml", routesFile({ v1: 100, v2: "plenty" }));
  say("7  an edit with a mistake (weight: plenty) is refused, and the last good rules stay in force:");
  say(`     ${(await refusal).split("\t").slice(3, 4).join("")}`);
  say(`     and traffic goes on as before: ${counted(await traffic.sample(300))}`);
}

/** Compares the memory of two sidecars, one after the other: both listen on the port of the services. */
async function weigh({ world, server: { grpcPort } }: Running, stage: Stage, port: number): Promise<void> {
  await stage.write("crowd.yaml", crowdFile(port, world.sidecars[0]!.appPort));
  const of = { binary: envoyBinary(), folder: stage.folder, discoveryPort: grpcPort, port };
  const [everything, asking] = [await allocated({ ...of, asks: false }), await allocated({ ...of, asks: true })];
  await Deno.remove(`${stage.config}/crowd.yaml`);
  const [most, least] = [everything, asking].map((bytes) => (bytes / 1e6).toFixed(1));
  say(`8  ${CROWD} more services in crowd.yaml; the memory that a sidecar has allocated, by its own statistics:`);
  say(
    `     with all of them ${most} MB, on demand after a call of one ${least} MB, that is ${
      (everything / asking).toFixed(1)
    } times less`,
  );
}

/** Edits the rule. Returns the time until the version answers because of the edit. */
async function edit(stage: Stage, traffic: Traffic, weights: Weights, version: string): Promise<string> {
  const started = performance.now();
  await stage.write("routes.yaml", routesFile(weights));
  await traffic.until(version);
  return `${Math.round(performance.now() - started)} ms`;
}

function counted({ versions, failed }: Counts): string {
  const parts = Object.entries(versions).sort().map(([version, count]) => `${version} ${count}`);
  return [...parts, ...(failed > 0 ? [`failed ${failed}`] : [])].join(", ");
}

function invite({ world, server, envoys }: Running, stage: Stage): void {
  say("\nIt stays until you press Ctrl-C. Try:");
  say(`     edit   ${stage.config}/routes.yaml`);
  say(`     ask    curl http://127.0.0.1:${world.gatewayPort}/`);
  say(`     pages  http://127.0.0.1:${server.httpPort}/debug`);
  for (const { adminPort } of envoys) say(`     Envoy  http://127.0.0.1:${adminPort}/config_dump`);
}

/** Resolves when the demo must end: every started process must end with the demo. */
function interrupted(): Promise<"interrupted"> {
  const { promise, resolve } = Promise.withResolvers<"interrupted">();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    Deno.addSignalListener(signal, () => resolve("interrupted"));
  }
  return promise;
}

/** The whole demo, from an empty stage to an empty stage. */
async function play(stage: Stage, ports: readonly number[], stays: boolean, end: Promise<unknown>): Promise<void> {
  const [crowdPort = 0, ...others] = ports;
  const running = await raise(stage, others);
  await show(running, stage);
  if (!stays) {
    await weigh(running, stage, crowdPort);
    return void say(
      "\n   with --keep all of this stays, for your browser and your edits; tasks for you: README.md, Your terminal",
    );
  }
  invite(running, stage);
  await end;
}

const FLAGS = ["--keep", "--secure", "--cluster"];
const unknown = Deno.args.filter((arg) => !FLAGS.includes(arg));
if (unknown.length > 0) {
  console.error(
    `Error: unknown argument ${
      unknown.join(" ")
    }, expected none, --keep to stay and play, --secure for identities, --cluster for a real cluster`,
  );
  Deno.exit(1);
}
const end = interrupted();
let wasInterrupted = false;
void end.then(() => wasInterrupted = true);
const stays = Deno.args.includes("--keep");
if (Deno.args.includes("--secure")) await withPorts(SECURE_PORTS, (ports) => playSecure({ ports, say, stays, end }));
else if (Deno.args.includes("--cluster")) await playCluster({ say, stays, end });
else {
  await withPorts(4, async (ports) => {
    const stage = new Stage();
    try {
      await Promise.race([play(stage, ports, stays, end), end]);
    } finally {
      await stage.close();
    }
  });
}
say("done: everything has been stopped");
Deno.exit(wasInterrupted ? 130 : 0);
