/**
 * Where routes send the traffic of hosts and of gateways.
 *
 * @module
 */
import { apiGatewayBehind } from "../config/derive/made_of_gateway_api.ts";
import { gatewaySelectors, isServedBy } from "../config/kinds/gateway/workloads.ts";
import type { ConfigObject } from "../config/types.ts";
import type { Mesh } from "../mesh/mesh.ts";
import { MESH_GATEWAY } from "../mesh/sidecar_rules.ts";
import type { EffectiveVirtualService } from "../mesh/types.ts";
import type { Endpoint, Service } from "../registry/types.ts";

/** A part of the traffic of a host or a gateway. */
export interface RoutedPart {
  /** A host of requests in the mesh, or a gateway `namespace/name`. */
  readonly from: { readonly host: string } | { readonly gateway: string };
  /** Namespace of the rule, from which hosts are looked up. */
  readonly namespace: string;
  readonly to: string;
  /** `v1 90 %`, `mirror`. */
  readonly share: string;
  /** Whether the rule is only for some requests. */
  readonly isConditional: boolean;
  /** Key of the object with the rule. */
  readonly cause: string;
}

type HttpRule = NonNullable<EffectiveVirtualService["spec"]["http"]>[number];

/** All parts. Rules without effect are left out. */
export function* routedParts(mesh: Mesh): Iterable<RoutedPart> {
  const hidden = new Set<string>();
  for (const { host, protocol, rejected } of mesh.virtualServices.shadowed()) {
    hidden.add(`${host} ${protocol} ${rejected[0]}`);
  }
  for (const rule of mesh.virtualServices.all()) {
    const { namespace, causes: [cause = ""] } = rule;
    for (const gateway of rule.gateways) {
      for (const { protocol, ...part } of partsFor(rule, gateway)) {
        if (gateway !== MESH_GATEWAY) {
          yield { from: { gateway }, namespace, cause, ...part };
          continue;
        }
        for (const host of rule.hosts) {
          if (!hidden.has(`${host} ${protocol} ${cause}`)) yield { from: { host }, namespace, cause, ...part };
        }
      }
    }
  }
}

interface RuleShare extends Pick<RoutedPart, "to" | "share" | "isConditional"> {
  readonly protocol: "http" | "tls" | "tcp";
}

function* partsFor({ spec }: EffectiveVirtualService, gateway: string): Iterable<RuleShare> {
  for (const rule of spec.http ?? []) {
    if (!isFor(rule.match, gateway)) continue;
    const isConditional = isForSome(rule);
    const targets = (rule.route ?? []).filter(({ internal }) => !(internal && "unresolved" in internal));
    yield* shares(targets).map((part) => ({ ...part, isConditional, protocol: "http" as const }));
    const mirrors = [...rule.mirror ? [rule.mirror] : [], ...(rule.mirrors ?? []).map((one) => one.destination)];
    for (const { host, subset } of mirrors) {
      yield { to: host, share: `${subset ?? ""} mirror`.trim(), isConditional, protocol: "http" };
    }
  }
  for (const protocol of ["tls", "tcp"] as const) {
    for (const rule of spec[protocol] ?? []) {
      if (!isFor(rule.match, gateway)) continue;
      const isConditional = protocol === "tcp" && (rule.match?.length ?? 0) > 0;
      yield* shares((rule.route ?? []).filter(({ internal }) => !internal))
        .map((part) => ({ ...part, isConditional, protocol }));
    }
  }
}

/** Whether a rule has a match for a gateway, or for all. */
function isFor(match: readonly { readonly gateways?: readonly string[] }[] | undefined, gateway: string): boolean {
  if (match === undefined || match.length === 0) return true;
  return match.some(({ gateways = [] }) => gateways.length === 0 || gateways.includes(gateway));
}

/** Whether the matches of a rule leave requests out. */
function isForSome({ match = [] }: HttpRule): boolean {
  return match.length > 0 &&
    !match.some(({ gateways: _, name: __, uri, ...others }) =>
      Object.keys(others).length === 0 && (uri === undefined || "prefix" in uri && uri.prefix === "/")
    );
}

function shares(
  targets: readonly {
    readonly destination: { readonly host: string; readonly subset?: string };
    readonly weight?: number;
  }[],
): { readonly to: string; readonly share: string }[] {
  const total = targets.reduce((sum, { weight = 0 }) => sum + weight, 0);
  return targets.map(({ destination: { host, subset }, weight = 0 }) => {
    // Without any weight the parts are equal.
    const part = total === 0 ? 100 / targets.length : 100 * weight / total;
    return { to: host, share: `${subset ?? ""} ${Number(part.toFixed(1))} %`.trim() };
  });
}

/** A gateway that lets traffic in. */
export interface Entrance {
  /** `namespace/name`, of the Gateway that users have written. */
  readonly name: string;
  /** Identities of the gateway's workloads, `ns/NAMESPACE/sa/ACCOUNT`. */
  readonly accounts: ReadonlySet<string>;
}

/**
 * The gateways by the name in rules, `namespace/name`. The names of Gateways derived from one Gateway of the Gateway API
 * lead to the same entrance.
 */
export function entrances(
  mesh: Mesh,
  gateways: readonly ConfigObject<"Gateway">[],
  services: Iterable<Service>,
): ReadonlyMap<string, Entrance> {
  const made = gateways.map((gateway) => {
    const { namespace, name } = apiGatewayBehind(gateway) ?? gateway.meta;
    return { gateway, name: `${namespace}/${name}`, accounts: new Set<string>() };
  });
  const byLabel = new Map<string, (typeof made)[number][]>();
  for (const one of made) {
    const labels = new Set(gatewaySelectors(one.gateway).map(firstLabel));
    for (const label of labels) byLabel.getOrInsertComputed(label, () => []).push(one);
  }
  const seen = new Set<string>();
  if (made.length > 0) {
    for (const service of services) {
      if (service.meshExternal) continue;
      for (const endpoint of mesh.endpoints(service)) findEntrances(endpoint, byLabel, seen, mesh);
    }
  }
  return new Map(
    made.map(({ gateway: { meta }, name, accounts }) => [`${meta.namespace}/${meta.name}`, { name, accounts }]),
  );
}

function findEntrances(
  endpoint: Endpoint,
  byLabel: ReadonlyMap<
    string,
    readonly { readonly gateway: ConfigObject<"Gateway">; readonly accounts: Set<string> }[]
  >,
  seen: Set<string>,
  mesh: Mesh,
): void {
  const { namespace, labels, serviceAccount, address } = endpoint;
  const key = `${address} ${namespace}`;
  if (serviceAccount === "" || seen.has(key)) return;
  seen.add(key);
  for (const label of ["", ...Object.entries(labels).map(([name, value]) => `${name}=${value}`)]) {
    for (const { gateway, accounts } of byLabel.get(label) ?? []) {
      if (mesh.gateways.ownNamespaceOnly && gateway.meta.namespace !== namespace) continue;
      if (isServedBy(gateway, endpoint)) accounts.add(`ns/${namespace}/sa/${serviceAccount}`);
    }
  }
}

/** `name=value` of the first label; empty: every workload is meant. */
function firstLabel(selector: Readonly<Record<string, string>>): string {
  const [first] = Object.entries(selector);
  return first === undefined ? "" : `${first[0]}=${first[1]}`;
}
