import assert from "node:assert/strict";
import { startServer, translateForProxy } from "../../mod.ts";
import { openLog } from "./open_log.ts";
import { page, withServer } from "./running.ts";

const sidecar = (namespace: string, name = "default") =>
  `apiVersion: networking.istio.io/v1
kind: Sidecar
metadata: { name: ${name}, namespace: ${namespace} }
spec: { egress: [{ hosts: ["./*"] }] }
`;
const entry = `apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: a, namespace: other }
spec:
  hosts: [a.example.com]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.1 }]
`;
const node = { id: "sidecar~10.9.9.9~app.demo~demo.svc.cluster.local" };
const A = "outbound|80||a.example.com";

function clusters(files: Record<string, string>, meshConfig?: string): unknown[] {
  return translateForProxy({ files, node, ...(meshConfig ? { meshConfig } : {}) }).clusters.map(({ name }) => name);
}

Deno.test("a Sidecar for the whole mesh is in force in Istio's root namespace, and in a configured root namespace", () => {
  assert.ok(clusters({ "a.yaml": entry }).includes(A));
  assert.ok(!clusters({ "a.yaml": entry, "s.yaml": sidecar("istio-system") }).includes(A));
  assert.ok(!clusters({ "a.yaml": entry, "s.yaml": sidecar("mesh-system") }).includes(A));
  const named = "rootNamespace: mesh-system";
  assert.ok(clusters({ "a.yaml": entry, "s.yaml": sidecar("istio-system") }, named).includes(A));
  const both = { "s.yaml": sidecar("istio-system"), "t.yaml": sidecar("mesh-system") };
  assert.throws(() => translateForProxy({ files: both, node }), /Sidecar\/istio-system\/default \(s\.yaml:1\)/);
  assert.doesNotThrow(() => clusters(both, named));
});

Deno.test("a server takes the root namespace of its folder at start, and reports later objects in another root namespace", async () => {
  await withServer({ "s.yaml": sidecar("istio-system") }, async ({ ports, mesh, pipeline }, folder) => {
    assert.equal(mesh.state.mesh.rootNamespace, "istio-system");
    assert.equal(JSON.parse((await page(ports.http, "/debug/mesh")).body).rootNamespace, "istio-system");
    const findings = async () => JSON.parse((await page(ports.http, "/debug/problemz")).body);
    assert.deepEqual(await findings(), []);
    let pushed = Promise.withResolvers<void>();
    pipeline.onPush(() => pushed.resolve());
    await Deno.writeTextFile(`${folder}/t.yaml`, sidecar("mesh-system"));
    await pushed.promise;
    const [found, ...more] = await findings();
    assert.deepEqual(more, []);
    assert.deepEqual([
      found.severity,
      found.place.field,
      found.place.origin.file,
      ...Object.values(found.place.objects[0]),
    ], [
      "warning",
      "metadata.namespace",
      "t.yaml",
      "Sidecar",
      "mesh-system",
      "default",
    ]);
    assert.equal(mesh.state.mesh.rootNamespace, "istio-system");
    pushed = Promise.withResolvers<void>();
    await Deno.remove(`${folder}/t.yaml`);
    await pushed.promise;
    assert.deepEqual(await findings(), []);
  });
});

Deno.test("a root namespace chosen for an empty folder is a warning in the log and on the page, until the namespace has an object", async () => {
  const { log, lines } = openLog();
  const said = () => lines.map((line) => JSON.stringify(line)).filter((line) => line.includes("MSH0210"));
  await withServer({}, async ({ ports, pipeline }, folder) => {
    const names = async () =>
      JSON.parse((await page(ports.http, "/debug/problemz")).body).map(({ name }: { name: string }) => name);
    const write = async (file: string, text: string | undefined) => {
      const pushed = Promise.withResolvers<void>();
      const stop = pipeline.onPush(() => pushed.resolve());
      if (text === undefined) await Deno.remove(`${folder}/${file}`);
      else await Deno.writeTextFile(`${folder}/${file}`, text);
      await pushed.promise;
      stop();
    };
    assert.equal(said().length, 1);
    assert.match(said()[0]!, /warn.*the root namespace is mesh-system until the next start.*expected rootNamespace/);
    assert.deepEqual(await names(), ["root-namespace-of-empty-folder"]);
    // The affected object tells the same, and its place.
    await write("s.yaml", sidecar("istio-system"));
    assert.deepEqual(await names(), ["outside-root-namespace"]);
    await write("s.yaml", undefined);
    assert.deepEqual(await names(), ["root-namespace-of-empty-folder"]);
    await write("t.yaml", sidecar("mesh-system"));
    assert.deepEqual(await names(), []);
  }, { log });
  lines.length = 0;
  await withServer({ "a.yaml": entry }, async ({ ports }) => {
    assert.deepEqual(JSON.parse((await page(ports.http, "/debug/problemz")).body), []);
  }, { log });
  assert.deepEqual(said(), []);
});

Deno.test("a server does not start when two namespaces hold objects for the whole mesh, and starts when the root namespace is named", async () => {
  const configDir = await Deno.makeTempDir();
  const meshConfig = `${configDir}/../${crypto.randomUUID()}.mesh`;
  try {
    await Deno.writeTextFile(`${configDir}/a.yaml`, sidecar("istio-system"));
    await Deno.writeTextFile(`${configDir}/b.yaml`, sidecar("mesh-system"));
    await assert.rejects(startServer({ configDir }), (error: Error) => {
      assert.equal(error.name, "StartError");
      assert.match(error.message, /^configDir: objects for the whole mesh lie in 2 namespaces/);
      assert.match(error.message, /a\.yaml:1\).*b\.yaml:1\)/);
      return true;
    });
    await Deno.writeTextFile(meshConfig, "rootNamespace: mesh-system\n");
    const server = await startServer({ configDir, meshConfig });
    const mesh = JSON.parse((await page(server.ports.http, "/debug/mesh")).body);
    await server.stop();
    assert.equal(mesh.rootNamespace, "mesh-system");
  } finally {
    await Deno.remove(configDir, { recursive: true });
    await Deno.remove(meshConfig).catch(() => {});
  }
});
