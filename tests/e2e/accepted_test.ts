/**
 * Every example, and every world that the goldens of translation are made from, served from a folder to real Envoys:
 * a sidecar and a gateway must take all that they get.
 */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { KINDS } from "../../lib/config/kinds/kinds.ts";
import { groupOfKind } from "../../lib/config/spelling/spelling.ts";
import { withPorts } from "../../scripts/ports.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";

const path = envoyPath();
const root = new URL("../..", import.meta.url).pathname;

type Files = Record<string, string>;
interface ObjectTree {
  kind?: string;
  apiVersion?: string;
  metadata?: { namespace?: string };
  spec?: {
    selector?: Record<string, string>;
    servers?: { bind?: string; port: { number: number } }[];
    gateways?: string[];
    http?: Route[];
    tls?: Route[];
    tcp?: Route[];
  };
}
interface Route {
  match?: { port?: number }[];
}

/** Folders of YAML, recursively: those that hold a file themselves. */
function folders(dir: string): string[] {
  const entries = [...Deno.readDirSync(`${root}${dir}`)];
  const here = entries.some((e) => e.isFile && e.name.endsWith(".yaml")) ? [dir] : [];
  return [...here, ...entries.filter((e) => e.isDirectory).flatMap((e) => folders(`${dir}/${e.name}`))].sort();
}

function yamlFiles(dir: string): Files {
  const names = [...Deno.readDirSync(`${root}${dir}`)].map((e) => e.name).filter((n) => n.endsWith(".yaml")).sort();
  return Object.fromEntries(names.map((name) => [name, Deno.readTextFileSync(`${root}${dir}/${name}`)]));
}

/** What some worlds hold to show that translation copes with it, and what validation keeps out of a folder. */
const REFUSED: readonly (readonly [string, string])[] = [[', "-AES128-SHA"', ""], ["A.example.com", "a.example.com"]];

/** Certificates that the worlds name, where they really lie. */
function withCertificates(world: string): string {
  const text = REFUSED.reduce((rest, [from, to]) => rest.replaceAll(from, to), world);
  const pem = `${root}tests/testdata/translate/cluster/pem`;
  return text.replaceAll(/\/etc\/[\w/-]*?(\w+)\.pem/g, (_, name) => `${pem}/${KNOWN.has(name) ? name : "cert"}.pem`);
}
const KNOWN = new Set(["crl", "key", "cert"]);

/** The objects of a file; what describes a test's process instead of configuration is left out. */
function objectsIn(text: string): ObjectTree[] {
  return parseAllDocuments(withCertificates(text), { merge: true })
    .map((d) => d.toJS({ maxAliasCount: 100 }) as ObjectTree).filter((tree) => tree !== null && tree.kind !== "World");
}

/** Ports of the servers of all gateways. */
function gatewayPorts(objects: readonly ObjectTree[]): number[] {
  const servers = objects.filter(({ kind }) => kind === "Gateway").flatMap(({ spec }) => spec?.servers ?? []);
  return [...new Set(servers.filter((server) => !isSocket(server)).map(({ port }) => port.number))];
}

/** Whether a server binds to a Unix socket; its port is 0. */
function isSocket({ bind }: { bind?: string }): boolean {
  return bind?.startsWith("unix:") ?? false;
}

/** Gateways bind to loopback, to ports that are this test's; routes that name a gateway's port name the same one. */
function runnable(tree: ObjectTree, ports: ReadonlyMap<number, number>): string {
  const { kind, spec = {} } = tree;
  const moved = (number: number) => ports.get(number) ?? number;
  const servers = spec.servers?.map((server) =>
    isSocket(server)
      ? server
      : { ...server, port: { ...server.port, number: moved(server.port.number) }, bind: "127.0.0.1" }
  );
  const routes = (list?: Route[]) =>
    list?.map((route) => ({
      ...route,
      ...route.match && {
        match: route.match.map((one) => one.port === undefined ? one : { ...one, port: moved(one.port) }),
      },
    }));
  const ofGateway = kind === "VirtualService" && spec.gateways?.some((name) => name !== "mesh");
  const changed = kind === "Gateway"
    ? { ...spec, servers }
    : ofGateway
    ? { ...spec, http: routes(spec.http), tls: routes(spec.tls), tcp: routes(spec.tcp) }
    : tree.spec;
  const known = KINDS.find((one) => one === kind);
  const group = known === undefined ? "networking" : groupOfKind(known);
  return JSON.stringify({ apiVersion: `${group}.mesh.io/v1`, ...tree, spec: changed });
}

/** Serves files to a sidecar and a gateway in both variants of the protocol; all that they get must be taken. */
async function served(files: Files): Promise<void> {
  const read = Object.entries(files).map(([name, text]) => ({ name, objects: objectsIn(text) }));
  const objects = read.flatMap(({ objects }) => objects);
  const gateways = objects.filter((tree) => tree.kind === "Gateway");
  const labels = Object.assign({ app: "door" }, ...gateways.map((tree) => tree.spec?.selector ?? {}));
  const namespace = objects[0]?.metadata?.namespace ?? "default";
  const numbers = gatewayPorts(objects);
  // Both gateways bind the same ports, which Envoys of one user may; both sidecars, too.
  await withPorts(2 + numbers.length, async ([proxyListenPort, proxyInboundListenPort, ...free]) => {
    const ports = new Map(numbers.map((number, i) => [number, free[i]!]));
    await using mesh = await TestMesh.start({
      files: Object.fromEntries(
        read.map(({ name, objects }) => [name, objects.map((tree) => runnable(tree, ports)).join("\n---\n")]),
      ),
      meshConfig: { proxyListenPort, proxyInboundListenPort },
    });
    assert.deepEqual(mesh.server.findings().filter((p) => p.severity === "error").map((p) => p.message), []);
    const envoys = (["sidecar", "router"] as const).flatMap((type) => [true, false].map((delta) => ({ type, delta })));
    await Promise.all(envoys.map(({ type, delta }) => {
      const identity = { type, name: `${type}-${delta ? "delta" : "sotw"}`, namespace, address: "127.0.0.1", labels };
      return mesh.attach(path!, identity, delta, { interceptionMode: "REDIRECT" });
    }));
    const rows = await mesh.settled();
    assert.equal(rows.length, envoys.length);
  });
}

for (const dir of folders("examples")) {
  if (!Object.values(yamlFiles(dir)).every((text) => /^apiVersion:/m.test(text))) continue; // a bootstrap
  Deno.test({
    name: `${dir} is accepted by a sidecar and a gateway, delta and state of the world`,
    ignore: path === undefined,
    fn: () => served(yamlFiles(dir)),
  });
}

// Plugins name modules in files that are not here: tests/e2e/wasm_plugin_test.ts has them.
const worlds = folders("tests/testdata/translate").filter((dir) => dir.endsWith("/in") && !dir.includes("/extension/"));
for (const dir of worlds) {
  for (const [name, text] of Object.entries(yamlFiles(dir))) {
    Deno.test({
      name: `${dir}/${name} is accepted by a sidecar and a gateway, delta and state of the world`,
      ignore: path === undefined,
      fn: () => served({ [name]: text }),
    });
  }
}
