/**
 * Every example, and every world that the goldens of translation are made from, served from a folder to real Envoys:
 * a sidecar and a gateway must take all that they get.
 */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { freePorts } from "../../scripts/demo/ports.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";

const path = envoyPath();
const root = new URL("../..", import.meta.url).pathname;

type Files = Record<string, string>;
interface ObjectTree {
  kind?: string;
  apiVersion?: string;
  metadata?: { namespace?: string };
  spec?: { selector?: Record<string, string>; servers?: { bind?: string; port: { number: number } }[] };
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

/**
 * Gateways bind to an address of the loopback device that is this test's alone, to ports that need no privilege; what
 * describes a test's process instead of configuration is left out.
 */
function runnable(text: string, address: string): { text: string; objects: ObjectTree[] } {
  const objects = parseAllDocuments(text, { merge: true }).map((d) => d.toJS({ maxAliasCount: 100 }) as ObjectTree)
    .filter((tree) => tree !== null && tree.kind !== "World");
  for (const tree of objects) {
    tree.apiVersion ??= "networking.mesh.io/v1";
    if (tree.kind !== "Gateway") continue;
    for (const server of tree.spec?.servers ?? []) {
      if (server.port.number < 1024) server.port.number += 20_000;
      if (!server.bind?.startsWith("unix:")) server.bind = address;
    }
  }
  return { text: objects.map((tree) => JSON.stringify(tree)).join("\n---\n"), objects };
}

let worlds = 0;

/** Serves files to a sidecar and a gateway in both variants of the protocol; all that they get must be taken. */
async function served(files: Files): Promise<void> {
  const number = ++worlds;
  const address = `127.${100 + Deno.pid % 100}.${number >> 8}.${number & 255}`;
  const read = Object.entries(files).map(([name, text]) => [name, runnable(withCertificates(text), address)] as const);
  const objects = read.flatMap(([, { objects }]) => objects);
  const gateways = objects.filter((tree) => tree.kind === "Gateway");
  const labels = Object.assign({ app: "door" }, ...gateways.map((tree) => tree.spec?.selector ?? {}));
  const namespace = objects[0]?.metadata?.namespace ?? "default";
  const [proxyListenPort, proxyInboundListenPort] = freePorts(2);
  await using mesh = await TestMesh.start({
    files: Object.fromEntries(read.map(([name, { text }]) => [name, text])),
    meshConfig: { proxyListenPort, proxyInboundListenPort },
  });
  assert.deepEqual(mesh.server.findings().filter((p) => p.severity === "error").map((p) => p.message), []);
  const envoys = (["sidecar", "router"] as const).flatMap((type) => [true, false].map((delta) => ({ type, delta })));
  await Promise.all(envoys.map(({ type, delta }) => {
    const identity = { type, name: `${type}-${delta ? "delta" : "sotw"}`, namespace, address: "127.0.0.1", labels };
    return mesh.attach(path!, identity, delta, "REDIRECT");
  }));
  const rows = await mesh.settled();
  assert.equal(rows.length, envoys.length);
}

for (const dir of folders("examples")) {
  if (!Object.values(yamlFiles(dir)).every((text) => /^apiVersion:/m.test(text))) continue; // a bootstrap
  Deno.test({
    name: `${dir} is accepted by a sidecar and a gateway, delta and state of the world`,
    ignore: path === undefined,
    fn: () => served(yamlFiles(dir)),
  });
}

for (const dir of folders("tests/testdata/translate").filter((dir) => dir.endsWith("/in"))) {
  for (const [name, text] of Object.entries(yamlFiles(dir))) {
    Deno.test({
      name: `${dir}/${name} is accepted by a sidecar and a gateway, delta and state of the world`,
      ignore: path === undefined,
      fn: () => served({ [name]: text }),
    });
  }
}
