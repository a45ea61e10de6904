/**
 * The source of a class of proxies: the scope of the mesh, and the properties of a proxy.
 *
 * @module
 */
import { InvalidatedKeys } from "../../incremental/keys.ts";
import type { ReadSource, ViewDifference } from "../../incremental/read_record.ts";
import { addHostKeys, MESH_KEY } from "../../mesh/affected.ts";
import type { Mesh } from "../../mesh/mesh.ts";
import { Scope } from "../../mesh/scope.ts";
import type { Distinction } from "../../mesh/view/distinctions.ts";
import type { MeshViews } from "./mesh_views.ts";
import type { PatchSelection } from "./patch_selection.ts";
import type { ProxyProperties } from "./proxy_properties.ts";
import type { TranslateSettings } from "./settings.ts";

/** The keys whose answers may differ between two namespaces, by the kind of the distinction. */
const KEYS: Readonly<Record<Distinction["kind"], readonly string[]>> = {
  services: [MESH_KEY.service, MESH_KEY.endpoints, MESH_KEY.identities],
  virtualServices: [MESH_KEY.virtualService],
  destinationRules: [MESH_KEY.destinationRule],
};

/** Answers queries about the mesh for a class of proxies. */
export class ScopeReader implements ReadSource<ProxyProperties> {
  readonly settings: TranslateSettings;
  readonly properties: ProxyProperties;
  readonly scope: Scope;
  readonly mesh: Mesh;
  readonly patches: PatchSelection;
  readonly #views: MeshViews | undefined;

  /** @param views All meshes of the translator. Default: there is only the mesh of the patches. */
  constructor(
    patches: PatchSelection,
    scope: Scope,
    properties: ProxyProperties,
    settings: TranslateSettings,
    views?: MeshViews,
  ) {
    this.#views = views;
    this.patches = patches;
    this.mesh = patches.mesh;
    this.scope = scope;
    this.properties = properties;
    this.settings = settings;
  }

  /** The same source with other properties: a proxy in another role. */
  as(properties: ProxyProperties): ScopeReader {
    return new ScopeReader(this.patches, this.scope, properties, this.settings, this.#views);
  }

  /**
   * The source for queries about a workload. Answers are compared between proxies with different candidates, so the
   * mesh is the mesh of the proxy in question.
   */
  forWorkload(of: ProxyProperties): ScopeReader {
    if (this.#views === undefined || of.candidates === this.properties.candidates) return this;
    return new ScopeReader(this.#views.of(of.candidates).patches, this.scope, of, this.settings, this.#views);
  }

  get view(): Scope {
    return this.scope;
  }

  differsFrom(view: object): ViewDifference | undefined {
    const distinctions = view instanceof Scope ? this.mesh.differences(this.scope, view) : undefined;
    if (!distinctions) return undefined;
    const keys = new InvalidatedKeys();
    const names = new Set<string>();
    for (const { kind, hosts } of distinctions) {
      for (const key of KEYS[kind]) addHostKeys(keys, key, hosts);
      if (kind !== "destinationRules") { for (const host of hosts) names.add(host); }
    }
    return { keys, names };
  }

  /** All hosts that may have something to translate. */
  hosts(): Iterable<string> {
    return this.scope.hosts();
  }

  /** Whether a host has anything to translate: a visible service, or a virtual service that names the host itself. */
  exists(host: string): boolean {
    return this.scope.service(host) !== undefined ||
      this.scope.virtualService(host, undefined)?.hosts.includes(host) === true;
  }
}
