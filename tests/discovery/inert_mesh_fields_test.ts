import assert from "node:assert/strict";
import { defaultMeshConfig } from "../../lib/config/mesh/merge.ts";
import { meshFieldsNotBuilt, startMeshSource } from "../../lib/discovery/sources/mesh_source.ts";
import { startKernel } from "../../lib/kernel/kernel.ts";
import { createLog, defaultLogOptions } from "../../lib/kernel/log/log.ts";
import { meshFieldsWithoutEffect } from "../../lib/kernel/not_built/catalogue.ts";
import { namesFound, sourceText } from "../surface/source_scan.ts";

const inert = meshFieldsWithoutEffect();
const defaults = defaultMeshConfig({ systemNamespace: "mesh-system" });

Deno.test("every field of the mesh configuration is read outside of the parser, or is on the list of fields without effect", () => {
  const text = sourceText([
    "lib/config/",
    "lib/finding/",
    "lib/analyze/",
    "lib/simulate/",
    "lib/dns/",
    "lib/iptables/",
    "lib/cni/",
    "cmd/",
  ]);
  const fields = namesFound(text, /\b(?:(?:mesh|config|meshConfig)(?:\(\))?\??\.|mesh\(")(\w+)/g);
  const read = (field: string) =>
    fields.has(field) || new RegExp(`\\b${field}\\b[^{}]*\\} = [\\w.]*(?:mesh|config)\\b`).test(text);
  assert.deepEqual(inert.filter(read), [], "read, and on the list");
  const others = Object.keys(defaults).filter((field) => !inert.includes(field));
  assert.deepEqual(others.filter((field) => !read(field)), [], "not read, and not on the list");
});

Deno.test("fields without effect are reported when the mesh configuration has them, once for each change", async () => {
  assert.deepEqual(meshFieldsNotBuilt(defaults, defaults), []);
  const folder = await Deno.makeTempDir();
  const lines: string[] = [];
  const open = () => ({ write: (line: Uint8Array) => void lines.push(new TextDecoder().decode(line)), close() {} });
  const log = createLog(["default"], { ...defaultLogOptions, json: true }, { open });
  const kernel = startKernel("pilot-discovery", undefined, { log });
  const meshFile = `${folder}/mesh.yaml`;
  await Deno.writeTextFile(
    meshFile,
    "enablePrometheusMerge: false\nverifyCertificateAtClient: true\naccessLogFile: /dev/stdout\ndefaultProviders: { metrics: [prometheus], tracing: [] }\n",
  );
  const source = await startMeshSource({ meshFile, networksFile: "", systemNamespace: "mesh-system" }, kernel);
  try {
    const reported = lines.map((line) => JSON.parse(line)).filter(({ msg }) =>
      msg === "fields without effect in this version"
    );
    assert.deepEqual(reported.map(({ fields }) => fields), [["verifyCertificateAtClient"]]);
  } finally {
    await source.stop();
    await kernel.stopper.stop();
    await Deno.remove(folder, { recursive: true });
  }
});
