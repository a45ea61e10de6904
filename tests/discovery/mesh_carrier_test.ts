/**
 * The operator's object as mesh configuration of a server: taken from a named file, and a warning from the folder
 * alone.
 */
import assert from "node:assert/strict";
import { openLog } from "./open_log.ts";
import { page, withServer } from "./running.ts";

const operator = (mode: string) =>
  `apiVersion: v1
kind: Namespace
metadata: { name: istio-system }
---
apiVersion: install.istio.io/v1alpha1
kind: IstioOperator
metadata: { name: main, namespace: istio-system }
spec: { meshConfig: { outboundTrafficPolicy: { mode: ${mode} } } }
`;

Deno.test("a mesh configuration in the folder is not in force, and a warning in the log and on the page says how to pass it", async () => {
  const { log, lines } = openLog();
  await withServer({ "install.yaml": operator("REGISTRY_ONLY") }, async ({ ports, mesh }) => {
    // The folder belongs to users, and the mesh configuration to the operator: it names other sources, and variables of
    // the server.
    assert.equal(mesh.state.mesh.outboundTrafficPolicy.mode, "ALLOW_ANY");
    const found = JSON.parse((await page(ports.http, "/debug/problemz")).body)
      .filter(({ code }: { code: string }) => code === "MSH1050");
    assert.equal(found.length, 1);
    assert.equal(found[0].severity, "warning");
    assert.match(found[0].fix, /^Name the file of the object with --meshConfig/);
  }, { log });
  const said = lines.map((line) => JSON.stringify(line)).filter((line) => line.includes("MSH1050"));
  assert.equal(said.length, 1);
  assert.match(said[0]!, /warn.*spec\.meshConfig of IstioOperator istio-system\/main/);
});

Deno.test("a server takes the mesh configuration from an object in the named file, follows its edits, and logs the object", async () => {
  const { log, lines } = openLog();
  const folder = await Deno.makeTempDir();
  const meshConfig = `${folder}/install.yaml`;
  try {
    await Deno.writeTextFile(meshConfig, operator("REGISTRY_ONLY"));
    const run = withServer({ "install.yaml": operator("REGISTRY_ONLY") }, async ({ ports, mesh }) => {
      assert.equal(mesh.state.mesh.outboundTrafficPolicy.mode, "REGISTRY_ONLY");
      assert.ok(!(await page(ports.http, "/debug/problemz")).body.includes("MSH1050"));
      const followed = Promise.withResolvers<void>();
      mesh.onChange(() => followed.resolve());
      await Deno.writeTextFile(meshConfig, operator("ALLOW_ANY"));
      await followed.promise;
      assert.equal(mesh.state.mesh.outboundTrafficPolicy.mode, "ALLOW_ANY");
    }, { log, options: { meshConfig } });
    await run;
    const said = lines.filter((line) => line["file"] === meshConfig).map((line) => JSON.stringify(line)).join("\n");
    assert.match(said, /settings are read and followed/);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
