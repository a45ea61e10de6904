/**
 * The source object of a part of the configuration, written into the part.
 *
 * @module
 */
import type { RuleSource } from "../../config/kinds/virtual_service/internal.ts";
import { KINDS } from "../../config/kinds/kinds.ts";
import { GATEWAY_API_GROUP } from "../../config/spelling/spelling.ts";
import { objectKey } from "../../config/types.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { fromStruct, struct } from "../../pb/wellknown.ts";

/**
 * Metadata with the source object, in the form and place that tools for Istio expect:
 * `/apis/networking.mesh.io/v1/namespaces/<namespace>/virtual-service/<name>`.
 *
 * @param key `VirtualService/namespace/name` or `Gateway/namespace/name`.
 */
export function objectMetadata(key: string): envoy.config.core.v3.Metadata {
  const [kind = "", namespace = "", name = ""] = key.split("/");
  const kebab = kind.replace(/(?<=[a-z])[A-Z]/g, "-$&").toLowerCase();
  const config = `/apis/networking.mesh.io/v1/namespaces/${namespace}/${kebab}/${name}`;
  return { filter_metadata: { istio: struct({ config }) } };
}

/** Words of paths for kinds of routes. */
const ROUTE_WORDS = { HTTPRoute: "http-route", GRPCRoute: "grpc-route" } as const;

/**
 * Metadata with the rule behind a route: the path `/apis/gateway.networking.k8s.io/v1/namespaces/<namespace>/
 * http-route/<name>`, and the positions of rule and match, from 0.
 */
export function ruleMetadata({ kind, namespace, name, rule, match }: RuleSource): envoy.config.core.v3.Metadata {
  const config = `/apis/${GATEWAY_API_GROUP}/v1/namespaces/${namespace}/${ROUTE_WORDS[kind]}/${name}`;
  return { filter_metadata: { istio: struct({ config, rule, match }) } };
}

/** The key of an object named by a path in metadata; undefined: not such a path. */
export function keyOfPath(path: string): string | undefined {
  const [, namespace = "", word = "", name = ""] = /\/namespaces\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
  const kind = KINDS.find((one) => one.toLowerCase() === word.replaceAll("-", ""));
  return kind === undefined ? undefined : objectKey(kind, namespace, name);
}

/** The key of the object behind a resource, by the resource's metadata; undefined: none. */
export function keyInMetadata(metadata: envoy.config.core.v3.Metadata | undefined): string | undefined {
  const { config } = fromStruct(metadata?.filter_metadata?.["istio"]);
  return typeof config === "string" ? keyOfPath(config) : undefined;
}

/** The rule behind a route, by the route's metadata; undefined: the route has no such rule. */
export function ruleInMetadata(metadata: envoy.config.core.v3.Metadata | undefined): RuleSource | undefined {
  const { rule, match } = fromStruct(metadata?.filter_metadata?.["istio"]);
  if (typeof rule !== "number") return undefined;
  const [kind, namespace = "", name = ""] = keyInMetadata(metadata)?.split("/") ?? [];
  if (kind !== "HTTPRoute" && kind !== "GRPCRoute") return undefined;
  return { kind, namespace, name, rule, ...(typeof match === "number" ? { match } : {}) };
}
