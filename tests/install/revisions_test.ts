/** Revisions and tags beside each other: no pod meets two webhooks, and no revision's objects are another's. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { LabelSelectorRequirement } from "../../lib/config/mesh/types.ts";
import { type InstallationPart, installObjects, PART_NAMES, type PartName, PARTS } from "../../lib/install/parts.ts";
import { withoutComments } from "../../lib/install/template/resolved.ts";
import { defaultValues, type InstallValues } from "../../lib/install/values/values.ts";
import { LOCKS } from "../../lib/orch/leader/locks.ts";
import { manifestsFlags } from "../../cmd/pilot-discovery/manifests_flags.ts";

type Labels = Readonly<Record<string, string>>;

interface Selector {
  readonly matchExpressions: readonly LabelSelectorRequirement[];
}

interface InstalledObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Labels };
  readonly webhooks?: readonly {
    readonly name: string;
    readonly clientConfig: { readonly service: { readonly name: string } };
    readonly namespaceSelector: Selector;
    readonly objectSelector: Selector;
  }[];
}

function objectsOf(values: Partial<InstallValues>, parts?: readonly PartName[]): readonly InstalledObject[] {
  return installObjects(defaultValues(values), parts).map(withoutComments) as unknown as readonly InstalledObject[];
}

const idOf = ({ kind, metadata: { name, namespace = "" } }: InstalledObject) => `${kind} ${namespace}/${name}`;
const canary = { revision: "canary", tags: ["prod"] };

/** Like the API: judges by keys in their exact spelling. */
function meets({ matchExpressions }: Selector, labels: Labels): boolean {
  return matchExpressions.every(({ key, operator, values = [] }) => {
    const value = labels[key];
    if (operator === "In") return value !== undefined && values.includes(value);
    if (operator === "NotIn") return value === undefined || !values.includes(value);
    return (operator === "Exists") === (value !== undefined);
  });
}

/** The asked services, by the webhooks of the default revision, of a canary and of a tag. */
function asked(ofNamespace: Labels, ofPod: Labels, installed: readonly Partial<InstallValues>[] = [{}, canary]) {
  return installed.flatMap((values) => objectsOf(values))
    .filter(({ kind }) => kind === "MutatingWebhookConfiguration")
    .flatMap(({ metadata, webhooks = [] }) =>
      webhooks.filter(({ namespaceSelector, objectSelector }) =>
        meets(namespaceSelector, { "kubernetes.io/metadata.name": "shop", ...ofNamespace }) &&
        meets(objectSelector, ofPod)
      ).map(({ clientConfig }) => `${metadata.name} ${clientConfig.service.name}`)
    );
}

const ofDefault = ["mesh-sidecar-injector meshd"];
const ofCanary = ["mesh-sidecar-injector-canary meshd-canary"];
const ofTag = ["mesh-revision-tag-prod meshd-canary"];

for (
  const [webhooks, ofNamespace, ofPod] of [
    [ofDefault, { "mesh-injection": "enabled" }, {}],
    [ofDefault, { "istio-injection": "enabled" }, {}],
    [ofDefault, { "mesh.io/rev": "default" }, {}],
    [ofDefault, {}, { "sidecar.mesh.io/inject": "true" }],
    [ofDefault, { "mesh-injection": "enabled" }, { "mesh.io/rev": "canary" }],
    [ofDefault, { "mesh-injection": "enabled" }, { "mesh.io/rev": "prod" }],
    [ofCanary, { "mesh.io/rev": "canary" }, {}],
    [ofCanary, { "istio.io/rev": "canary" }, {}],
    [ofCanary, {}, { "mesh.io/rev": "canary" }],
    [ofCanary, {}, { "mesh.io/rev": "canary", "sidecar.mesh.io/inject": "true" }],
    [ofCanary, { "mesh.io/rev": "canary" }, { "mesh.io/rev": "prod" }],
    [ofTag, { "mesh.io/rev": "prod" }, {}],
    [ofTag, { "istio.io/rev": "prod" }, {}],
    [ofTag, {}, { "mesh.io/rev": "prod" }],
    [ofTag, { "mesh.io/rev": "prod" }, { "mesh.io/rev": "canary" }],
    [[], {}, {}],
    [[], { "mesh.io/rev": "gone" }, {}],
    [[], { "mesh.io/rev": "canary" }, { "sidecar.mesh.io/inject": "false" }],
    [[], { "kubernetes.io/metadata.name": "mesh-system", "mesh.io/rev": "canary" }, {}],
  ] as const
) {
  Deno.test(`pods ${JSON.stringify(ofPod)} of a namespace ${JSON.stringify(ofNamespace)} are injected by ${webhooks[0] ?? "nobody"}`, () => {
    assert.deepEqual(asked(ofNamespace, ofPod), webhooks);
  });
}

Deno.test("a tag that is moved to the default revision asks the default revision's server, with the same objects", () => {
  assert.deepEqual(asked({ "mesh.io/rev": "prod" }, {}, [{ tags: ["prod"] }, { revision: "canary" }]), [
    "mesh-revision-tag-prod meshd",
  ]);
  const [there, back] = [canary, { tags: ["prod"] }].map((values) => objectsOf(values, ["tags"]));
  assert.deepEqual(there!.map(idOf), back!.map(idOf));
});

const some = (values: readonly string[]) => fc.option(fc.constantFrom(...values), { nil: undefined });
const labelsOf = (choices: Readonly<Record<string, readonly string[]>>) =>
  fc.record(Object.fromEntries(Object.entries(choices).map(([key, values]) => [key, some(values)])))
    .map((labels) => Object.fromEntries(Object.entries(labels).filter(([, value]) => value !== undefined)) as Labels);
const REVISIONS = ["default", "canary", "prod", "other"];
const revisionLabels = { "mesh.io/rev": REVISIONS, "istio.io/rev": REVISIONS };

Deno.test("for any labels of pod and namespace, at most one webhook is asked", () => {
  const injection = ["enabled", "disabled"];
  const namespaces = labelsOf({ ...revisionLabels, "mesh-injection": injection, "istio-injection": injection });
  const inject = ["true", "false"];
  const pods = labelsOf({ ...revisionLabels, "sidecar.mesh.io/inject": inject, "sidecar.istio.io/inject": inject });
  fc.assert(fc.property(namespaces, pods, (ofNamespace, ofPod) => {
    assert.ok(asked(ofNamespace, ofPod).length <= 1);
  }));
});

Deno.test("no object of a revision is an object of the default revision, or shared: deleting the revision deletes nothing else", () => {
  const theirs = new Set(
    objectsOf({ tags: ["stable"], "ambient.enabled": true, gateways: [{}] }, PART_NAMES).map(idOf),
  );
  const own = objectsOf({ ...canary, "ambient.enabled": true }).map(idOf);
  assert.deepEqual(own.filter((id) => theirs.has(id)), []);
  assert.ok(own.length > 10);
  assert.deepEqual(own.filter((id) => !/canary|prod/.test(id)), []);
  assert.deepEqual(own.filter((id) => /^(Namespace|PriorityClass|Validating|CustomResource)/.test(id)), []);
});

Deno.test("a revision is refused if its objects would have the names of other locks, config maps or roles", () => {
  const installed = objectsOf({ revision: "blue", tags: ["prod"] }).filter(({ kind }) => /ConfigMap|Role/.test(kind));
  const names = [...installed, ...objectsOf({})].map(({ metadata: { name } }) => name);
  const others = [...Object.keys(LOCKS), ...names, "mesh-ca-root-cert", "mesh-ca-secret", "meshd-signing"];
  const revisions = others.flatMap((name) => /^meshd?-(.+)/.exec(name)?.[1] ?? [])
    // Names of another revision, of namespaces and of the priority class are of other sorts.
    .filter((revision) => !["blue", "system", "control-plane", "mesh-system"].includes(revision));
  assert.ok(revisions.length > 10);
  for (const revision of revisions) {
    assert.throws(() => defaultValues({ revision }), /revision: got .*expected a name that no object/, revision);
  }
});

Deno.test("the flag for parts offers all parts", () => {
  assert.deepEqual(manifestsFlags.only.allowed, Object.keys(PARTS satisfies Record<string, InstallationPart>));
});
