/** Which Gateways a server deploys, and what counts as the Gateway's own change. */
import assert from "node:assert/strict";
import { FactStore } from "../../../lib/config/facts/store.ts";
import { ConfigStore } from "../../../lib/config/store.ts";
import { isOfNewerController, isOwnGateway } from "../../../lib/gateway_api/deploy/managed.ts";
import { deploySource, type DeployWorld, ownInputs } from "../../../lib/gateway_api/deploy/source.ts";
import { settingsOf } from "../../injection/support.ts";
import { apiGateway, type GatewayDraft } from "./source.ts";

const API = { from: "api", source: "c", uid: "u-1" } as const;

const WORLD: DeployWorld = {
  ...{ store: new ConfigStore(), facts: new FactStore(), systemNamespace: "mesh-system", settings: settingsOf({}) },
  revisions: { own: "", default: "default", tags: new Map() },
  classes: {
    controllerName: "mesh.io/gateway-controller",
    defaultClass: "mesh",
    remote: true,
    waypoints: true,
    eastWest: true,
  },
  allowsManual: true,
};

function judge(draft: GatewayDraft, world: Partial<DeployWorld> = {}): string {
  const source = deploySource({ ...apiGateway(draft), origin: API }, { ...WORLD, ...world });
  return typeof source === "string" ? source : source.controller;
}

const hostname = { addresses: [{ type: "Hostname", value: "edge" }] };

const judgements: readonly [string, string, string][] = [
  ["the default class", judge({}), "mesh.io/gateway-controller"],
  ["an unknown class", judge({ spec: { gatewayClassName: "other" } }), "another class"],
  ["the class of remote gateways", judge({ spec: { gatewayClassName: "mesh-remote" } }), "another class"],
  [
    "one address of type IPAddress",
    judge({ spec: { addresses: [{ value: "203.0.113.1" }] } }),
    "mesh.io/gateway-controller",
  ],
  ["the class of waypoints", judge({ spec: { gatewayClassName: "mesh-waypoint" } }), "mesh.io/mesh-controller"],
  [
    "the class of waypoints without PILOT_ENABLE_AMBIENT_WAYPOINTS",
    judge({ spec: { gatewayClassName: "mesh-waypoint" } }, { classes: { ...WORLD.classes, waypoints: false } }),
    "another class",
  ],
  [
    "the class of gateways between networks",
    judge({ spec: { gatewayClassName: "mesh-east-west" } }),
    "mesh.io/eastwest-controller",
  ],
  [
    "the class of gateways between networks without AMBIENT_ENABLE_MULTI_NETWORK",
    judge({ spec: { gatewayClassName: "mesh-east-west" } }, { classes: { ...WORLD.classes, eastWest: false } }),
    "another class",
  ],
  ["the class of Istio's waypoints", judge({ spec: { gatewayClassName: "istio-waypoint" } }), "another class"],
  ["a host name", judge({ spec: hostname }), "manual"],
  ["two addresses", judge({ spec: { addresses: [{ value: "203.0.113.1" }, { value: "203.0.113.2" }] } }), "manual"],
  [
    "a host name without ENABLE_GATEWAY_API_MANUAL_DEPLOYMENT",
    judge({ spec: hostname }, { allowsManual: false }),
    "mesh.io/gateway-controller",
  ],
  ["the label of another revision", judge({ labels: { "istio.io/rev": "canary" } }), "another revision"],
  ["a newer controller", judge({ annotations: { "gateway.istio.io/controller-version": "6" } }), "a newer controller"],
  [
    "an older controller",
    judge({ annotations: { "gateway.mesh.io/controller-version": "4" } }),
    "mesh.io/gateway-controller",
  ],
];

for (const [what, actual, expected] of judgements) {
  Deno.test(`a Gateway with ${what}: ${expected}`, () => assert.equal(actual, expected));
}

Deno.test("a Gateway from a folder is not deployed", () => {
  assert.equal(deploySource(apiGateway(), WORLD), "not in an API");
});

Deno.test("a Gateway belongs to the revision of its label, else of its namespace, else to the default revision; tags lead to revisions", () => {
  const tags = new Map([["prod", "v2"]]);
  const isOwn = (own: string, labels: object, namespaceLabels: object = {}, byDefault = "default") =>
    isOwnGateway({ labels: { ...labels }, namespaceLabels: { ...namespaceLabels } }, { own, default: byDefault, tags });
  const rev = (name: string) => ({ "mesh.io/rev": name });
  assert.deepEqual([isOwn("v2", rev("prod")), isOwn("v1", rev("prod"))], [true, false]);
  assert.deepEqual([isOwn("v2", {}, rev("prod")), isOwn("v2", rev("v1"), rev("prod"))], [true, false]);
  assert.deepEqual([isOwn("", {}), isOwn("default", {}), isOwn("v2", {}), isOwn("v2", {}, {}, "v2")], [
    ...[true, true, false, true],
  ]);
});

Deno.test("an annotation that is no number is of a newer controller", () => {
  const found = [undefined, "", "5", "6", "x", "99999999999"].map(isOfNewerController);
  assert.deepEqual(found, [false, true, false, true, true, true]);
});

Deno.test("the Gateway's own inputs change with its author's edits, and not with annotations of programs or shared settings", () => {
  const own = (draft: GatewayDraft, world: Partial<DeployWorld> = {}) => {
    const source = deploySource({ ...apiGateway(draft), origin: API }, { ...WORLD, ...world });
    assert.ok(typeof source !== "string");
    return ownInputs(source);
  };
  const before = own({});
  assert.equal(own({ annotations: { "gateway.mesh.io/controller-version": "5" } }), before);
  assert.equal(own({}, { settings: settingsOf({ settings: { version: "2.0.0" } }) }), before);
  const more = { listeners: [{ name: "b", port: 81, protocol: "HTTP" }] };
  assert.equal(own({ spec: more }), before);
  const templates = { "kube-gateway": "kind: Deployment" };
  const config = { settings: settingsOf({ config: { templates } }) };
  assert.notEqual(own({ spec: more }, config), own({}, config));
  assert.notEqual(own({ labels: { a: "b" } }), before);
  assert.notEqual(own({ annotations: { "sidecar.mesh.io/proxyCPU": "1" } }), before);
  assert.notEqual(own({ spec: { infrastructure: { labels: { a: "b" } } } }), before);
});
