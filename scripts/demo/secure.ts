/**
 * The demo with identities: two workloads with only tokens, and who may call whom.
 *
 *     calls ─> client's Envoy ══ mutual TLS ══> server's Envoy ─> application
 *     calls of a program without an identity ──────^
 *
 * Permissions: run (deno, envoy), net (loopback), read and write (a temporary folder), env (PATH, HOME, DENO_DIR,
 * ENVOY).
 *
 * @module
 */
import { callerEcho } from "./caller_echo.ts";
import { type AgentProcess } from "./agent.ts";
import { IdentityMesh, SHORT_LEAVES } from "./identity_mesh.ts";
import { Load, type LoadCounts, oneRequest } from "./load.ts";
import { callersFile, pairFiles, peersFile, shortConnectionsFile } from "./workloads.ts";

/** Number of ports for the demo. */
export const SECURE_PORTS = 11;

/** How the demo is played. */
export interface SecureDemoOptions {
  readonly ports: readonly number[];
  readonly say: (text: string) => void;
  /** Stays until `end`. */
  readonly stays: boolean;
  /** Resolves when the demo must end, at any point of the show. */
  readonly end: Promise<unknown>;
}

/** Plays the demo, and leaves nothing behind. */
export async function playSecure(options: SecureDemoOptions): Promise<void> {
  const { ports: [port = 0, here = 0, there = 0], say, end } = options;
  await using app = callerEcho();
  const pair = pairFiles({ client: here, server: there, application: app.port, mode: "PERMISSIVE" });
  const files = { ...pair, "connections.yaml": shortConnectionsFile(10) };
  await using mesh = await IdentityMesh.start({ port, files });
  say(`1  configuration: files in ${mesh.folder}/config`);
  say(`2  pilot-discovery is the certificate authority; agents reach it over TLS on 127.0.0.1:${port}`);
  try {
    await Promise.race([show(mesh, options), end]);
  } catch (error) {
    throw mesh.failure(error);
  }
}

async function show(mesh: IdentityMesh, { ports, say, stays, end }: SecureDemoOptions): Promise<void> {
  const [here = 0, there = 0, ...own] = ports.slice(1);
  const agents = await Promise.all(
    ["server", "client"].map((name, i) => mesh.agent({ name, ports: own.slice(4 * i, 4 * i + 4), env: SHORT_LEAVES })),
  );
  await answered(here, /^spiffe:/);
  say("3  two workloads run, an agent and an Envoy each; all that they were given is a token of their account");
  say(`     calls of app.test through the client's: curl -H 'Host: app.test' http://127.0.0.1:${here}/`);
  await using load = new Load(here, "app.test");
  say("4  peers.yaml says PERMISSIVE; the application names who called it:");
  await report(load, there, say);
  await mesh.write("peers.yaml", peersFile("STRICT"));
  await answered(there, /^refused$/);
  say("5  peers.yaml says STRICT now, and who shows no certificate is refused:");
  await report(load, there, say);
  await mesh.write("callers.yaml", callersFile("somebody"));
  await all(load, /^403 /);
  say("6  callers.yaml lets another account in, so this identity is refused:");
  await report(load, there, say);
  await mesh.write("callers.yaml", callersFile("client"));
  await all(load, /^spiffe:/);
  say("7  callers.yaml lets the client in again; its certificate and the server's are replaced three times meanwhile:");
  await renewals(agents, 3);
  await report(load, there, say);
  if (!stays) return;
  say("\nIt stays until you press Ctrl-C. Try:");
  say(`     edit   ${mesh.folder}/config/peers.yaml`);
  say(`     look   openssl s_client -connect 127.0.0.1:${there} -alpn istio -showcerts`);
  for (const admin of [own[0], own[4]]) say(`     Envoy  http://127.0.0.1:${admin}/certs`);
  await end;
}

/** Prints a line for each kind of caller. */
async function report(load: Load, there: number, say: (text: string) => void): Promise<void> {
  await load.more(300);
  say(`     through the client's sidecar: ${counted(load.take())}`);
  const without: Record<string, number> = {};
  for (let i = 0; i < 20; i++) {
    const answer = await oneRequest(there, "app.test");
    without[answer] = (without[answer] ?? 0) + 1;
  }
  say(`     without a sidecar: ${counted({ answers: without, failures: {} })}`);
}

function counted({ answers, failures }: LoadCounts): string {
  return [...Object.entries(answers), ...Object.entries(failures)].map(([text, count]) => `${text} ${count}`).join(
    ", ",
  );
}

/** Waits until all answers of a load match: open connections are closed a little later. */
async function all(load: Load, answer: RegExp): Promise<void> {
  await eventually(`answers like ${answer.source} alone`, async () => {
    load.take();
    await load.more(50);
    const { answers, failures } = load.take();
    return Object.keys({ ...answers, ...failures }).every((text) => answer.test(text));
  });
}

/** Waits until the answer to a request matches. */
async function answered(port: number, answer: RegExp): Promise<void> {
  await eventually(`an answer like ${answer.source}`, async () => answer.test(await oneRequest(port, "app.test")));
}

/** Waits until each agent has had so many more certificates. */
async function renewals(agents: readonly AgentProcess[], count: number): Promise<void> {
  const had = ({ output }: AgentProcess) => output.split("certificate valid until").length - 1;
  const before = agents.map(had);
  await eventually("new certificates", () => Promise.resolve(agents.every((one, i) => had(one) >= before[i]! + count)));
}

async function eventually(what: string, holds: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + 90_000;
  while (!await holds()) {
    if (performance.now() > deadline) throw new Error(`${what}: not in time`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}
