/**
 * Every example, and every world of the goldens of translation, served from a folder to real Envoys: a sidecar and a
 * gateway must take all resources.
 */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { EXPECTED } from "../translate/golden/read.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";
import { type Files, folders, gatewayPorts, objectsIn, runnable, yamlFiles } from "./support/real_files.ts";

const path = envoyPath();
/** Serves files to a sidecar and a gateway in both variants of the protocol. Both proxies must take all resources. */
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
const worldsServed = new Set<string>();
const worlds = folders("tests/testdata/translate").filter((dir) => !dir.endsWith("/extension"));
for (const dir of worlds) {
  for (const [name, text] of Object.entries(yamlFiles(dir))) {
    // Some worlds differ in nothing but what is shown, or have no objects at all.
    const objects = text.split(EXPECTED)[0]!.split("\n---\n").slice(1).join("\n---\n");
    // Listeners that capture nothing bind ports of this machine, once for each Envoy. tests/translate covers such worlds.
    if (objects === "" || worldsServed.has(objects) || objects.includes("captureMode: NONE")) continue;
    worldsServed.add(objects);
    Deno.test({
      name: `${dir}/${name} is accepted by a sidecar and a gateway, delta and state of the world`,
      ignore: path === undefined,
      fn: () => served({ [name]: text }),
    });
  }
}
