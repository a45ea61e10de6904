/**
 * A mesh of plain services and parsed objects, changed step by step.
 *
 * @module
 */
import assert from "node:assert/strict";
import { defaultMeshConfig } from "../../lib/config/mesh/merge.ts";
import { parseObject } from "../../lib/config/object.ts";
import type { AnyConfigObject } from "../../lib/config/types.ts";
import { Mesh } from "../../lib/mesh/mesh.ts";
import type { Scope } from "../../lib/mesh/scope.ts";
import { plainService } from "../../lib/registry/mock.ts";
import { type Service, type ServiceKey, serviceKey } from "../../lib/registry/types.ts";
import { inFile } from "../config/origins.ts";
import { forService } from "./for_service.ts";

export const ROOT = "mesh-system";

/** A service, as far as tests care. */
export interface ServiceSketch {
  readonly host: string;
  readonly namespace: string;
  readonly exportTo?: readonly string[];
  /** Older wins. */
  readonly created?: number;
}

function service({ host, namespace, exportTo = [], created = 0 }: ServiceSketch): Service {
  const made = {
    provider: "External",
    creationTimestamp: created,
    cause: `ServiceEntry/${namespace}/${host}`,
  } as const;
  return plainService({ hostname: host, namespace, name: host, ports: [], exportTo, ...made });
}

/** An object of the networking group. */
export function networkingObject(
  kind: string,
  namespace: string,
  name: string,
  spec: object,
  annotations: Readonly<Record<string, string>> = {},
): AnyConfigObject | undefined {
  const tree = { apiVersion: "networking.mesh.io/v1", kind, metadata: { namespace, name, annotations }, spec };
  const { object } = parseObject(tree, inFile("test"), { defaultNamespace: "default" });
  return object && forService(object as AnyConfigObject);
}

/** Services and objects, and a mesh that follows their changes. */
export class ScopeWorld {
  readonly services = new Map<ServiceKey, Service>();
  readonly objects = new Map<string, AnyConfigObject>();
  readonly mesh: Mesh;

  constructor({ shared }: { readonly shared: boolean }) {
    this.mesh = new Mesh({
      config: defaultMeshConfig({ systemNamespace: ROOT }),
      networks: { networks: {} },
      domainSuffix: "cluster.local",
      source: { service: (key) => this.services.get(key), endpoints: () => [] },
      scopeGatewayToNamespace: false,
      gatewaySelectors: true,
      enhancedDestinationRuleMerge: true,
      sharedScopes: shared,
    });
  }

  /** Puts services and objects, all in one change. */
  put(services: readonly ServiceSketch[], objects: readonly (AnyConfigObject | undefined)[]): void {
    const made = services.map(service);
    for (const one of made) this.services.set(serviceKey(one), one);
    const added = objects.filter((object) => object !== undefined);
    const removed = added.flatMap(({ key }) => this.objects.get(key) ?? []);
    for (const object of added) this.objects.set(object.key, object);
    this.mesh.apply({ removed, added, services: made.map(serviceKey) });
  }

  /** Removes a service or an object. */
  remove(key: string): void {
    const object = this.objects.get(key);
    if (object) {
      this.objects.delete(key);
      this.mesh.apply({ removed: [object] });
    } else if (this.services.delete(key as ServiceKey)) this.mesh.apply({ services: [key as ServiceKey] });
  }

  /** The same services and objects in a new mesh without shared scopes of namespaces. */
  fresh(): Mesh {
    const other = new ScopeWorld({ shared: false });
    for (const [key, one] of this.services) other.services.set(key, one);
    other.mesh.apply({ added: this.objects.values(), services: this.services.keys() });
    return other.mesh;
  }
}

/** A scope's view of some hosts, as plain data. */
export function seen(scope: Scope, hosts: readonly string[]): Record<string, unknown> {
  const { egress } = scope;
  const of = (host: string) => ({
    service: scope.service(host)?.cause,
    http: scope.virtualService(host, "http")?.causes,
    any: scope.virtualService(host, undefined)?.causes,
    rules: scope.destinationRules(host).map(({ causes, spec }) => [causes, spec]),
    egress: egress.map(({ index }) => scope.sees(index, host)),
  });
  return {
    policy: scope.outboundTrafficPolicy(),
    ...Object.fromEntries(hosts.map((host) => [host, of(host)])),
  };
}

/** Asserts whether two scopes are the same. */
export function assertShared(a: Scope, b: Scope, shared: boolean, why: string): void {
  assert.equal(a === b, shared, why);
}
