/**
 * Gateways as users write them, with ConfigMaps and settings, for tests of their deployment.
 *
 * @module
 */
import assert from "node:assert/strict";
import { parse } from "yaml";
import { readFact } from "../../../lib/config/facts/read.ts";
import type { Fact } from "../../../lib/config/facts/types.ts";
import { parseObject } from "../../../lib/config/object.ts";
import type { ConfigObject } from "../../../lib/config/types.ts";
import { formatFinding } from "../../../lib/finding/finding.ts";
import { renderGateway, selectorLabelOf } from "../../../lib/gateway_api/deploy/render.ts";
import type { DeployedKind, DeployedObject, DeploySource, Rendering } from "../../../lib/gateway_api/deploy/types.ts";
import { inFile } from "../../config/origins.ts";
import { type InjectionCase, settingsOf } from "../../injection/support.ts";

/** A Gateway `shop/gw` of class `mesh` with a listener `http` on port 80; a test writes the difference. */
export interface GatewayDraft {
  readonly name?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: object;
}

/** Reads a Gateway. Mistakes throw. */
export function apiGateway({ name = "gw", labels, annotations, spec }: GatewayDraft = {}): ConfigObject<"ApiGateway"> {
  const tree = {
    ...{ apiVersion: "gateway.networking.k8s.io/v1", kind: "Gateway" },
    metadata: { name, namespace: "shop", ...(labels && { labels }), ...(annotations && { annotations }) },
    spec: { gatewayClassName: "mesh", listeners: [{ name: "http", port: 80, protocol: "HTTP" }], ...spec },
  };
  const { object, findings } = parseObject(tree, inFile("gateway.yaml"), { defaultNamespace: "shop" });
  assert.ok(object !== undefined, findings.map(formatFinding).join("\n"));
  return object as ConfigObject<"ApiGateway">;
}

/** A ConfigMap `shop/options` with entries. */
export function configMap(
  data: Readonly<Record<string, string>>,
  metadata: object = {},
): Fact<"ConfigMap"> {
  const tree = {
    ...{ apiVersion: "v1", kind: "ConfigMap", data },
    metadata: { name: "options", namespace: "shop", ...metadata },
  };
  const { fact } = readFact("ConfigMap", tree, inFile("map.yaml"), { digestKey: new Uint8Array(32) });
  return fact as Fact<"ConfigMap">;
}

/** Renders a Gateway. */
export function rendering(
  draft: GatewayDraft,
  more: Partial<Omit<DeploySource, "settings">> = {},
  settings: InjectionCase = {},
): Rendering {
  const gateway = apiGateway(draft);
  return renderGateway({
    ...{ gateway, uid: "u-1", controller: "mesh.io/gateway-controller", role: "gateway" },
    listeners: gateway.spec.listeners.map(({ name, port, protocol }) => ({ name, port, protocol })),
    ...{ classDefaults: undefined, parameters: undefined, namespaceAnnotations: {} },
    ...{ settings: settingsOf(settings), selectorLabel: selectorLabelOf(undefined) },
    ...more,
  });
}

/** A Gateway `shop/gw` of the class of waypoints. */
export function waypoint(draft: GatewayDraft = {}): Parameters<typeof rendering> {
  const listeners = [{ name: "mesh", port: 15008, protocol: "HBONE" }];
  const spec = { gatewayClassName: "mesh-waypoint", listeners, ...draft.spec };
  return [{ ...draft, spec }, { role: "waypoint", controller: "mesh.io/mesh-controller" }];
}

/** A Gateway `shop/gw` of the class of gateways between networks, in network n1. */
export function eastWest(draft: GatewayDraft = {}): Parameters<typeof rendering> {
  const [{ spec, ...rest }] = waypoint({ ...draft, labels: { "topology.istio.io/network": "n1", ...draft.labels } });
  return [{ ...rest, spec: { ...spec, gatewayClassName: "mesh-east-west", ...draft.spec } }, {
    role: "east-west",
    controller: "mesh.io/eastwest-controller",
  }];
}

/** The objects of a Gateway by kind. Problems throw. */
export function rendered(...given: Parameters<typeof rendering>): Readonly<Partial<Record<DeployedKind, Tree>>> {
  const result = rendering(...given);
  if (!("objects" in result)) throw new Error(JSON.stringify(result));
  return Object.fromEntries(result.objects.map((object) => [object.kind, object as unknown as Tree]));
}

/** An object with fields of any depth, as JSON has them. */
export interface Tree extends Omit<DeployedObject, "spec"> {
  readonly metadata: DeployedObject["metadata"] & {
    readonly labels: Readonly<Record<string, string>>;
    readonly annotations: Readonly<Record<string, string>>;
    readonly ownerReferences?: readonly object[];
  };
  readonly spec: Readonly<Record<string, unknown>>;
}

/** The value of a field in a tree of JSON, by names and positions. */
export function at(tree: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((value, key) => (value as Readonly<Record<string | number, unknown>>)?.[key], tree);
}

/** Reads YAML. */
export const yaml = parse as (text: string) => unknown;
