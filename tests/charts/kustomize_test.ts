/** `manifests/` as a base for Kustomize, and the overlay of the installation page. */
import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { KUSTOMIZATION } from "../../lib/install/files.ts";
import { type ManifestObject, objectsOf } from "./support/cases.ts";
import { runTool, toolTests } from "./support/tools.ts";

const test = toolTests("kubectl");
const ROOT = new URL("../../", import.meta.url).pathname;
const BASE = ["definitions", "pilot-discovery", "meshd", "webhooks"];

function byIdentity(objects: readonly ManifestObject[]): Readonly<Record<string, ManifestObject>> {
  return Object.fromEntries(
    objects.map((object) =>
      [`${object.kind} ${object.metadata.namespace ?? ""}/${object.metadata.name}`, object] as const
    ).sort(([a], [b]) => a < b ? -1 : 1),
  );
}

async function base(): Promise<readonly ManifestObject[]> {
  const texts = await Promise.all(BASE.map((name) => Deno.readTextFile(`${ROOT}manifests/${name}.yaml`)));
  return texts.flatMap(objectsOf);
}

test("the base of Kustomize has the objects of the default installation, unchanged", async () => {
  const rendered = objectsOf(await runTool("kubectl", ["kustomize", `${ROOT}manifests`]));
  assert.deepEqual(byIdentity(rendered), byIdentity(await base()));
});

test("the overlay of the installation page changes replicas, image and mesh configuration, and nothing else", async () => {
  const page = await Deno.readTextFile(`${ROOT}docs/users/install.md`);
  const overlay = /```yaml\n# overlay\/kustomization\.yaml\n([\s\S]*?)```/.exec(page)?.[1];
  assert.ok(overlay, "the page has an overlay");
  const folder = await Deno.makeTempDir();
  try {
    await Deno.mkdir(`${folder}/manifests`);
    await Deno.mkdir(`${folder}/overlay`);
    for (const name of [KUSTOMIZATION, ...BASE.map((name) => `${name}.yaml`)]) {
      await Deno.copyFile(`${ROOT}manifests/${name}`, `${folder}/manifests/${name}`);
    }
    await Deno.writeTextFile(`${folder}/overlay/kustomization.yaml`, overlay);
    const rendered = byIdentity(objectsOf(await runTool("kubectl", ["kustomize", `${folder}/overlay`])));
    const before = byIdentity(await base());
    const changed = Object.keys(rendered).filter((key) => !isDeepStrictEqual(rendered[key], before[key]));
    assert.deepEqual(Object.keys(rendered), Object.keys(before));
    assert.deepEqual(changed, ["ConfigMap mesh-system/mesh", "Deployment mesh-system/meshd"]);
    const text = JSON.stringify(rendered["Deployment mesh-system/meshd"]);
    assert.match(text, /"replicas":3/);
    assert.match(text, /"image":"registry.example\/pilot-discovery:/);
    assert.equal(rendered["ConfigMap mesh-system/mesh"]!.data!["mesh"]?.trim(), 'accessLogFile: ""');
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
