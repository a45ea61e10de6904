/** Objects of the Gateway API as configuration: names, spelling, hashes. */
import assert from "node:assert/strict";
import { parseDocument } from "../../../lib/config/document/document.ts";
import { writtenForm } from "../../../lib/config/kinds/written.ts";
import { type ParsedObject, parseObject } from "../../../lib/config/object.ts";
import { writtenKey } from "../../../lib/finding/origin.ts";
import { inFile } from "../origins.ts";

const GROUP = "gateway.networking.k8s.io";

function parsed(tree: unknown): ParsedObject {
  return parseObject(tree, inFile("a.yaml"), { defaultNamespace: "default" });
}

const route = (more: object = {}, metadata: object = {}) => ({
  apiVersion: `${GROUP}/v1`,
  kind: "HTTPRoute",
  metadata: { name: "web", namespace: "shop", ...metadata },
  spec: { parentRefs: [{ name: "door" }] },
  ...more,
});

const DOOR = {
  apiVersion: `${GROUP}/v1beta1`,
  kind: "Gateway",
  metadata: { name: "door", namespace: "shop" },
  spec: { gatewayClassName: "mesh", listeners: [{ name: "http", port: 80, protocol: "HTTP" }] },
};

const CLASS = {
  apiVersion: `${GROUP}/v1`,
  kind: "GatewayClass",
  metadata: { name: "mesh" },
  spec: { controllerName: "mesh.io/gateway-controller" },
};

Deno.test({
  name: "a Gateway of the Gateway API is no Gateway of the mesh, and stays a Gateway to its author",
  permissions: "none",
  fn() {
    const { object } = parsed(DOOR);
    assert.equal(object?.key, "ApiGateway/shop/door");
    assert.equal(writtenKey(object), "Gateway/shop/door");
    const { apiVersion, kind } = writtenForm(object);
    assert.deepEqual([apiVersion, kind], [`${GROUP}/v1beta1`, "Gateway"]);
    const made = writtenForm({ ...object, origin: { from: "derived", source: "", of: "", parent: object.origin } });
    assert.deepEqual([made.apiVersion, made.kind], [`${GROUP}/v1`, "Gateway"]);
  },
});

Deno.test({
  name: "the author's version of a kind is kept, alpha versions too",
  permissions: "none",
  fn() {
    const spec = { parentRefs: [{ name: "door" }], rules: [{ backendRefs: [{ name: "db", port: 5432 }] }] };
    const { object } = parsed(route({ apiVersion: `${GROUP}/v1alpha2`, kind: "TCPRoute", spec }));
    assert.ok(object?.origin.from === "file");
    assert.deepEqual(object.origin.written, { apiVersion: `${GROUP}/v1alpha2`, kind: "TCPRoute" });
    assert.equal(writtenForm(object).apiVersion, `${GROUP}/v1alpha2`);
  },
});

Deno.test({
  name: "a GatewayClass is in no namespace, and a namespace in its metadata is refused",
  permissions: "none",
  fn() {
    const { object, findings } = parsed(CLASS);
    assert.deepEqual([object?.key, object?.meta.namespace, findings], ["GatewayClass//mesh", "", []]);
    assert.deepEqual(writtenForm(object!).metadata, { name: "mesh" });
    const wrong = parsed({ ...CLASS, metadata: { name: "mesh", namespace: "shop" } });
    assert.equal(wrong.object, undefined);
    assert.deepEqual(wrong.findings.map(({ place }) => place.field), ["metadata.namespace"]);
    // A text that does not parse still names its object.
    const text = `apiVersion: ${GROUP}/v1\nkind: GatewayClass\nmetadata:\n  name: mesh\nspec: [`;
    const place = { source: "", file: "a.yaml", line: 1, format: "yaml" } as const;
    const { refused } = parseDocument(text, place, { defaultNamespace: "default" });
    assert.deepEqual(refused, [{ kind: "GatewayClass", namespace: "", name: "mesh" }]);
  },
});

Deno.test({
  name: "a status and foreign labels keep the hash; the spec, a revision and a network do not",
  permissions: "none",
  fn() {
    const hash = (tree: unknown) => parsed(tree).object?.hash;
    const before = hash(route());
    const status = { parents: [{ controllerName: "other", parentRef: { name: "door" }, conditions: [] }] };
    assert.equal(hash(route({ status })), before);
    assert.equal(hash(route({}, { labels: { app: "shop" }, generation: 7, resourceVersion: "12" })), before);
    const others = [
      route({}, { labels: { "istio.io/rev": "canary" } }),
      route({}, { labels: { "topology.istio.io/network": "east" } }),
      route({ spec: { parentRefs: [{ name: "other" }] } }),
    ];
    for (const other of others) assert.notEqual(hash(other), before, JSON.stringify(other));
  },
});

Deno.test({
  name: "an annotation for dry runs of policies is no fault in an object that other implementations read too",
  permissions: "none",
  fn() {
    const { object, findings } = parsed(route({}, { annotations: { "istio.io/dry-run": "true" } }));
    assert.deepEqual([object?.key, findings], ["HTTPRoute/shop/web", []]);
  },
});

Deno.test({
  name: "an object that an API server has taken is not refused for a rule or an unknown field; an object of a file is",
  permissions: "none",
  fn() {
    const spec = {
      parentRefs: [{ name: "door" }],
      newField: 1,
      rules: [{ matches: [{ path: { type: "RegularExpression", value: "(" } }], backendRefs: [{ name: "a" }] }],
    };
    const faults = ["spec.newField", "spec.rules[0].matches[0].path.value", "spec.rules[0].backendRefs[0].port"];
    const ofFile = parsed(route({ spec }));
    assert.equal(ofFile.object, undefined);
    assert.deepEqual(ofFile.findings.map(({ severity, place }) => [severity, place.field]), [
      ...faults.map((field) => ["error", field]),
    ]);
    const ofApi = parseObject(route({ spec }), { from: "api", source: "c", uid: "1" }, { defaultNamespace: "default" });
    assert.equal(ofApi.object?.key, "HTTPRoute/shop/web");
    assert.deepEqual(ofApi.findings.map(({ severity, place }) => [severity, place.field]), [
      ...faults.map((field) => ["warning", field]),
    ]);
    for (const { effect } of ofApi.findings) assert.doesNotMatch(effect, /refused/);
  },
});

Deno.test({
  name: "a value that cannot be read refuses an object of an API, too",
  permissions: "none",
  fn() {
    const tree = route({ spec: { rules: [{ timeouts: { request: 5 } }] } });
    const { object, findings } = parseObject(tree, { from: "api", source: "c", uid: "1" }, { defaultNamespace: "x" });
    assert.equal(object, undefined);
    assert.deepEqual(findings.map(({ severity, place }) => [severity, place.field]), [
      ["error", "spec.rules[0].timeouts.request"],
    ]);
  },
});
