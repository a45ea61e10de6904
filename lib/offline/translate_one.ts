/**
 * The resources that a proxy would get, from texts alone: no server, no wire, no watching.
 *
 *     texts ─> objects ─> pipeline ─> a proxy joins ─> its resources, encoded and readable
 *
 * Permissions: env (`LOG_TOKENS` and `LOG_STREAM`, which the YAML package reads).
 *
 * @module
 */
import type { Finding } from "../finding/finding.ts";
import type { SettingsOf } from "../kernel/settings/catalogue.ts";
import { defaultSettings } from "../kernel/settings/read.ts";
import { TYPE_URL_PREFIX } from "../pb/codec.ts";
import { readable } from "../pb/reflect.ts";
import type { EncodedResource } from "../resource/encoded.ts";
import type { ProxyState } from "../translate/machine/per_proxy/proxy_state.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, SECRET, VIRTUAL_HOST } from "../xds/protocol/types.ts";
import { OfflineMesh, type ProxyNode } from "./offline_mesh.ts";

/** The configuration to translate, and the proxy. */
export interface TranslateRequest {
  /** Texts of configuration by file name; the name ends in `.yaml`, `.yml` or `.json`. */
  readonly files: Readonly<Record<string, string>>;
  readonly node: ProxyNode;
  /** Text of the mesh configuration; default: the defaults. */
  readonly meshConfig?: string;
  /** Sends virtual hosts apart from their route configuration, as for delta clients. Default false: whole routes. */
  readonly vhds?: boolean;
  /** DNS suffix of services. Default `cluster.local`. */
  readonly domain?: string;
  /** Services of manifests in the texts are part of the mesh, as with `--registries=File`. Default false. */
  readonly manifestServices?: boolean;
  /** Settings that differ from their defaults (docs/reference/settings.md). */
  readonly settings?: Partial<SettingsOf<"pilot-discovery">>;
}

/** The resources of a proxy. Readable resources have Envoy's field names, enums as names, and `Any` opened. */
export interface TranslatedProxy {
  readonly listeners: readonly Record<string, unknown>[];
  readonly routes: readonly Record<string, unknown>[];
  /** Set only for virtual hosts apart from their routes. */
  readonly virtualHosts: readonly Record<string, unknown>[];
  readonly clusters: readonly Record<string, unknown>[];
  readonly endpoints: readonly Record<string, unknown>[];
  /** Certificates in files of the proxy's machine. Listeners ask for the certificates by name. */
  readonly secrets: readonly Record<string, unknown>[];
  /**
   * The same resources in their encoded form, each with its source objects. The function `resourcesFrom` takes the
   * encoded resources.
   */
  readonly encoded: readonly EncodedResource[];
  /** The findings about the texts. An object with an error is left out, as in a server. */
  readonly findings: readonly Finding[];
}

/**
 * Translates configuration for a proxy.
 *
 * ```ts
 * import { translateForProxy } from "@mesh/pilot";
 *
 * const { clusters, findings } = translateForProxy({
 *   files: {
 *     "service.yaml": `
 *       apiVersion: networking.mesh.io/v1
 *       kind: ServiceEntry
 *       metadata: { name: hello, namespace: demo }
 *       spec:
 *         hosts: [hello.example.com]
 *         ports: [{ number: 80, name: http, protocol: HTTP }]
 *         resolution: STATIC
 *         endpoints: [{ address: 10.0.0.1 }]`,
 *   },
 *   node: { id: "sidecar~10.9.9.9~app.demo~demo.svc.cluster.local" },
 * });
 *
 * if (findings.length > 0) throw new Error(findings[0]!.message);
 * const names = clusters.map((cluster) => cluster.name);
 * if (!names.includes("outbound|80||hello.example.com")) throw new Error(String(names));
 * ```
 *
 * @throws {NodeRefused} when the node cannot be served.
 * @throws {RangeError} naming every problem of the mesh configuration, or the objects for the whole mesh when they lie
 * in several namespaces and the mesh configuration names no root namespace among them.
 * @throws the exception of a builder: a defect of this library, never of the configuration.
 */
export function translateForProxy(request: TranslateRequest): TranslatedProxy {
  const settings = defaultSettings("pilot-discovery", request.settings ?? {});
  const mesh = new OfflineMesh({
    settings,
    domain: request.domain ?? "cluster.local",
    meshConfig: request.meshConfig ?? "",
    vhds: request.vhds ?? false,
    manifestServices: request.manifestServices ?? false,
  });
  const encoder = new TextEncoder();
  mesh.apply(Object.entries(request.files).map(([path, text]) => ({ path, bytes: encoder.encode(text) })));
  const state = mesh.join(request.node);
  const [failure] = mesh.failures;
  if (failure !== undefined) throw failure.error;
  const conflict = mesh.rootNamespaceConflict;
  if (conflict !== undefined) throw new RangeError(conflict);
  return { ...resourcesOf(state), findings: mesh.index.findings() };
}

function resourcesOf(state: ProxyState): Omit<TranslatedProxy, "findings"> {
  const of = (typeUrl: string) => sorted((state.resourceSets(typeUrl) ?? []).flatMap((set) => [...set]));
  const [listeners, routes, clusters, endpoints] = [of(LISTENER), of(ROUTE), of(CLUSTER), of(ENDPOINTS)];
  const secrets = of(SECRET);
  const virtualHosts = sorted(routes.flatMap(({ name }) => state.virtualHosts(name).flatMap((set) => [...set])))
    .filter(({ typeUrl }) => typeUrl === VIRTUAL_HOST);
  return {
    listeners: listeners.map(open),
    routes: routes.map(open),
    virtualHosts: virtualHosts.map(open),
    clusters: clusters.map(open),
    endpoints: endpoints.map(open),
    secrets: secrets.map(open),
    encoded: [...listeners, ...routes, ...virtualHosts, ...clusters, ...endpoints, ...secrets],
  };
}

/** By name. If two resource sets hold a name, the later set wins, as on the wire. */
function sorted(resources: readonly EncodedResource[]): EncodedResource[] {
  return [...new Map(resources.map((r) => [r.name, r])).values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function open({ typeUrl, value }: EncodedResource): Record<string, unknown> {
  return readable(typeUrl.slice(TYPE_URL_PREFIX.length), value);
}
