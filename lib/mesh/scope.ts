/**
 * A scope: the services and rules in the view of a namespace or Sidecar. Without a `Sidecar` the view is everything
 * exported to the namespace. With a `Sidecar` the view is the imports of the egress listeners, and the destinations of
 * imported virtual services.
 *
 * A scope has no copies, but asks the indexes each time. So a change of the indexes needs no refresh, except for the
 * count of destinations in imported virtual services.
 *
 * @module
 */
import type { OutboundTrafficPolicy, SidecarEgress } from "../config/kinds/sidecar/schema.ts";
import type { ConfigObject } from "../config/types.ts";
import type { Service } from "../registry/types.ts";
import { covers, isWildcard, wildcardsOver } from "./host_match.ts";
import { type HostImport, importsHost, importsService, parseImports } from "./imports.ts";
import type { MeshIndexes } from "./indexes.ts";
import type { EffectiveDestinationRule, EffectiveVirtualService, EgressListener, RuleProtocol } from "./types.ts";
import type { SharedView } from "./view/namespace_views.ts";
import { isVisible } from "./visibility.ts";
import { MESH_GATEWAY, ruledSidecars } from "./sidecar_rules.ts";
import { destinationHosts } from "./virtual_service_index.ts";

/** The egress listeners of scopes without a Sidecar: a single object, so that all such scopes give the same answer. */
const catchAll: readonly EgressListener[] = [{ index: 0, captureMode: "DEFAULT" }];

/** The view of a namespace or Sidecar. */
export class Scope {
  /** The namespaces with this scope. */
  readonly view: SharedView;
  readonly sidecar: ConfigObject<"Sidecar"> | undefined;
  readonly egress: readonly EgressListener[];
  readonly #indexes: MeshIndexes;
  readonly #imports: readonly (readonly HostImport[])[];
  readonly #narrow: boolean;
  /** Destination hosts of imported virtual services, with the number of the services. */
  #destinations = new Map<string, number>();

  constructor(indexes: MeshIndexes, view: SharedView, sidecar: ConfigObject<"Sidecar"> | undefined) {
    this.#indexes = indexes;
    this.view = view;
    this.sidecar = sidecar;
    this.#narrow = isNarrow(sidecar);
    const egress = sidecar?.spec.egress ?? [];
    this.egress = this.#narrow ? egress.map(egressListener) : catchAll;
    this.#imports = egress.map((e) => parseImports(e.hosts, view.representative));
    if (this.#narrow) this.virtualServicesChanged([], indexes.virtualServices.all());
  }

  /** Whether the scope is over some indexes: a fork of a mesh has scopes of its own. */
  isOf(indexes: MeshIndexes): boolean {
    return this.#indexes === indexes;
  }

  /** A namespace with this view. */
  get namespace(): string {
    return this.view.representative;
  }

  /** Keeps the count of destinations true; to be called with every change of effective virtual services. */
  virtualServicesChanged(
    removed: Iterable<EffectiveVirtualService>,
    added: Iterable<EffectiveVirtualService>,
  ): Set<string> {
    const changed = new Set<string>();
    if (!this.#narrow) return changed;
    const count = (vs: EffectiveVirtualService, step: number) => {
      if (!vs.gateways.includes(MESH_GATEWAY) || !this.#seesVirtualService(vs)) return;
      for (const host of destinationHosts(vs)) {
        const before = this.#destinations.get(host) ?? 0;
        if (before + step > 0) this.#destinations.set(host, before + step);
        else this.#destinations.delete(host);
        if ((before > 0) === (before + step > 0)) continue;
        changed.add(host);
        for (const pattern of wildcardsOver(host)) changed.add(pattern);
      }
    };
    for (const vs of removed) count(vs, -1);
    for (const vs of added) count(vs, 1);
    return changed;
  }

  /** The visible service of a host. */
  service(host: string): Service | undefined {
    const { services } = this.#indexes;
    if (!this.#narrow) return services.visible(host, this.namespace);
    const imported = services.visible(host, this.namespace, (s) => this.#importsService(s));
    if (imported || !this.#isDestination(host)) return imported;
    return services.visible(host, this.namespace);
  }

  /** Whether an imported virtual service sends to a host, or to a host under a wildcard. */
  #isDestination(host: string): boolean {
    if (this.#destinations.has(host)) return true;
    return isWildcard(host) && this.#destinations.keys().some((destination) => covers(host, destination));
  }

  /** Whether a service is visible only as a destination of virtual services, without an import. */
  isSeenAsDestination(host: string): boolean {
    if (!this.#isDestination(host)) return false;
    return this.#indexes.services.visible(host, this.namespace, (s) => this.#importsService(s)) === undefined;
  }

  /**
   * Whether an egress listener imports a host of a service, or of a virtual service without a service.
   *
   * @param index Position of the egress listener.
   */
  sees(index: number, host: string): boolean {
    if (!this.#narrow) return true;
    const imports = this.#imports[index] ?? [];
    const service = this.#indexes.services.visible(host, this.namespace, (s) => importsService(imports, s));
    if (service) return true;
    const imported = (vs: EffectiveVirtualService) =>
      this.#importsVirtualService(imports, vs) && this.isAboutService(vs, host);
    return this.#indexes.virtualServices.visible(host, this.namespace, undefined, imported) !== undefined;
  }

  /**
   * The virtual service in force for a host on sidecars.
   *
   * @param protocol Only virtual services with rules of the protocol. Undefined: any.
   * @param at Number of skipped virtual services, with rules for other workloads or ports.
   */
  virtualService(host: string, protocol: RuleProtocol | undefined, at = 0): EffectiveVirtualService | undefined {
    const { virtualServices } = this.#indexes;
    const accept = (vs: EffectiveVirtualService) =>
      (!this.#narrow || this.#seesVirtualService(vs)) && this.isAboutService(vs, host);
    return virtualServices.visible(host, this.namespace, protocol, accept, at);
  }

  /**
   * Whether a virtual service may decide for the service that the scope has for a host. Rules for the service of another
   * namespace with the same host may not.
   */
  isAboutService({ serviceNamespace, hosts }: EffectiveVirtualService, host: string): boolean {
    if (serviceNamespace === undefined) return true;
    for (const pattern of [host, ...wildcardsOver(host)]) {
      const service = this.service(pattern);
      if (service === undefined) continue;
      return service.namespace === serviceNamespace && hosts.some((one) => covers(one, service.hostname));
    }
    return false;
  }

  /**
   * The virtual services in force for a host on some sidecar: up to the first virtual service for all workloads and
   * ports.
   */
  deciding(host: string, protocol: RuleProtocol): readonly EffectiveVirtualService[] {
    const found: EffectiveVirtualService[] = [];
    for (let at = 0;; at++) {
      const vs = this.virtualService(host, protocol, at);
      if (vs === undefined) return found;
      found.push(vs);
      if (ruledSidecars(vs, protocol) === "all") return found;
    }
  }

  /** The destination rules in force for a host (see `DestinationRuleIndex.inForce`). */
  destinationRules(host: string): readonly EffectiveDestinationRule[] {
    const service = this.service(host);
    return this.#indexes.destinationRules.inForce(host, this.namespace, service?.namespace ?? this.namespace);
  }

  /** Policy of the Sidecar, else of the mesh. */
  outboundTrafficPolicy(): OutboundTrafficPolicy {
    return this.sidecar?.spec.outboundTrafficPolicy ?? this.#indexes.config.outboundTrafficPolicy;
  }

  /** All hosts that may have something to translate: hosts of services, and of virtual services for sidecars. */
  *hosts(): Iterable<string> {
    const { services, virtualServices } = this.#indexes;
    yield* services.hosts();
    for (const host of virtualServices.hosts()) {
      if (!services.has(host)) yield host;
    }
  }

  /** Whether some visible service lies under a wildcard. */
  hasServiceUnder(pattern: string): boolean {
    for (const host of this.#indexes.services.hosts()) {
      if (covers(pattern, host) && this.service(host)) return true;
    }
    return false;
  }

  #importsService(service: Service): boolean {
    return this.#imports.some((imports) => importsService(imports, service));
  }

  #seesVirtualService(vs: EffectiveVirtualService): boolean {
    return this.#imports.some((imports) => this.#importsVirtualService(imports, vs));
  }

  /** A single imported host brings the whole virtual service, with all hosts. */
  #importsVirtualService(imports: readonly HostImport[], vs: EffectiveVirtualService): boolean {
    return isVisible(vs, this.namespace) && vs.hosts.some((host) => importsHost(imports, vs.namespace, host));
  }
}

/** Whether a Sidecar narrows the view of workloads. */
export function isNarrow(sidecar: ConfigObject<"Sidecar"> | undefined): boolean {
  return (sidecar?.spec.egress?.length ?? 0) > 0;
}

/** Whether a Sidecar names the workloads' own namespace, so that workloads of other namespaces get another view. */
export function namesOwnNamespace(sidecar: ConfigObject<"Sidecar">): boolean {
  return (sidecar.spec.egress ?? []).some(({ hosts }) => hosts.some((host) => host.startsWith("./")));
}

function egressListener(egress: SidecarEgress, index: number): EgressListener {
  const { port, bind, captureMode } = egress;
  return {
    index,
    captureMode,
    ...(port?.number !== undefined || port?.protocol !== undefined
      ? { port: { number: port.number ?? 0, protocol: port.protocol ?? "", name: port.name ?? "" } }
      : {}),
    ...(bind ? { bind } : {}),
  };
}
