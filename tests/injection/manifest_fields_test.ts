/**
 * The table of a pod's fields tells for each field read by injection who sets the field, and the meaning of its
 * absence.
 */
import assert from "node:assert/strict";
import type { FieldRows } from "../../lib/config/facts/manifest_fields.ts";
import { INJECTED_POD_FIELDS } from "../../lib/injection/pod_fields.ts";
import { type InjectedPod, readPod } from "../../lib/injection/pod.ts";
import { injectPod } from "../../lib/injection/steps/inject.ts";
import { traced } from "../config/facts/traced.ts";
import { settingsOf } from "./support.ts";

type Tree = Record<string, unknown>;

const HANDLERS: readonly Tree[] = [
  { httpGet: { port: "web" } },
  { tcpSocket: { port: 80 } },
  { grpc: { port: 80 } },
  { exec: {} },
];

function container(name: string, asked: Tree, more: Tree = {}): Tree {
  return {
    ...{ name, command: [], args: [], ports: [{ name: "web", containerPort: 80 }] },
    ...{ env: [{ name: "A", value: "a" }], volumeMounts: [{ name: "v", mountPath: "/v" }] },
    resources: { limits: {}, requests: {} },
    securityContext: { runAsUser: 1, runAsGroup: 1, seccompProfile: { type: "RuntimeDefault" } },
    ...{ readinessProbe: { ...asked }, livenessProbe: { ...asked }, startupProbe: { ...asked } },
    ...{ lifecycle: { postStart: { ...asked }, preStop: { ...asked } } },
    ...more,
  };
}

/** Pods with all nested parts, so that a read of a part is seen, whether the part is present or absent. */
function pods(): Tree[] {
  const owned = { ownerReferences: [{ apiVersion: "v1", kind: "ReplicaSet", name: "a" }] };
  const found: Tree[] = [];
  for (const asked of HANDLERS) {
    for (const template of ["sidecar", "gateway", "grpc-agent"]) {
      for (const metadata of [{ name: "a", generateName: "a-" }, { ...owned, namespace: "shop" }]) {
        const lasting = container("i", asked, { restartPolicy: "Always" });
        const own = container("istio-proxy", asked, { image: "auto" });
        found.push({
          metadata: { ...metadata, labels: {}, annotations: { "inject.mesh.io/templates": template } },
          spec: {
            containers: [container("a", asked), ...(template === "sidecar" ? [own] : [])],
            initContainers: [lasting],
            volumes: [{ name: "v" }],
            imagePullSecrets: [{ name: "s" }],
            securityContext: { runAsUser: 1, runAsGroup: 1 },
            serviceAccountName: "default",
          },
        });
      }
    }
  }
  return found;
}

/**
 * The paths of fields; paths of init containers count as paths of containers. Names in maps of texts are not fields.
 */
function fieldsOf(paths: Iterable<string>): string[] {
  return [...paths]
    .map((path) => path.replace(".initContainers[]", ".containers[]"))
    .filter((path) => !/^metadata\.(?:labels|annotations)\.|\.resources\.(?:limits|requests)\./.test(path))
    .filter((path) => !path.endsWith(".toJSON"));
}

Deno.test("the fields that injection reads of a pod are those of the table", () => {
  const all = new Set<string>();
  for (const pod of pods()) {
    const written = traced(pod);
    const read = readPod(written.tree);
    assert.ok("pod" in read, JSON.stringify(read));
    const given = traced(read.pod);
    const request = { pod: given.tree as InjectedPod, namespace: "shop", parameters: { variables: {} } };
    assert.equal(injectPod(request, settingsOf({})).kind, "injected");
    for (const path of fieldsOf([...written.paths, ...given.paths])) all.add(path);
  }
  // The pod's namespace comes from the request, which the webhook reads.
  all.add("metadata.namespace");
  assert.deepEqual([...all].sort(), Object.keys(INJECTED_POD_FIELDS).sort());
});

Deno.test("what the API server has filled in changes nothing of the injected pod but those fields", () => {
  const defaulted: Tree = { imagePullPolicy: "Always", terminationMessagePath: "/dev/termination-log" };
  const pod = (more: Tree, account: Tree): Tree => ({
    metadata: { labels: { app: "a" } },
    spec: {
      containers: [container("a", { httpGet: { port: 80, path: "/", ...(account["scheme"] as Tree) } }, more)],
      ...(account["spec"] as Tree),
    },
  });
  const written = pod({}, { scheme: {}, spec: {} });
  const stored = pod(defaulted, {
    scheme: { scheme: "HTTP" },
    spec: { serviceAccountName: "default", restartPolicy: "Always", securityContext: {} },
  });
  const environment = (tree: Tree) => {
    const read = readPod(tree);
    assert.ok("pod" in read);
    const result = injectPod({ pod: read.pod, namespace: "shop", parameters: { variables: {} } }, settingsOf({}));
    assert.ok(result.kind === "injected");
    const proxy = [...result.pod.spec.containers, ...result.pod.spec.initContainers ?? []].find(({ name }) =>
      name === "mesh-proxy"
    );
    // The agent takes HTTP for an absent scheme.
    const said = JSON.stringify(proxy).replaceAll(',\\"scheme\\":\\"HTTP\\"', "");
    return [said, result.pod.spec.volumes];
  };
  assert.deepEqual(environment(stored), environment(written));
});

Deno.test("every row says what an absent field means", () => {
  const rows: FieldRows = INJECTED_POD_FIELDS;
  for (const [path, { by, folder, api }] of Object.entries(rows)) {
    assert.ok(folder !== "" && api !== "", path);
    if (by === "server") assert.notEqual(api, undefined, `${path}: the API fills it in`);
  }
});
