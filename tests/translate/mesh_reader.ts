/**
 * A reader over a real mesh, for tests of builders: services of a registry, objects as read from configuration, and a
 * proxy.
 *
 * @module
 */
import type { OutboundTrafficPolicy } from "../../lib/config/kinds/sidecar/schema.ts";
import type { MeshConfig, MeshNetworks, ProxyHeaders } from "../../lib/config/mesh/types.ts";
import type { AnyConfigObject, ConfigObject, Kind } from "../../lib/config/types.ts";
import { PropertyTree } from "../../lib/incremental/properties.ts";
import { Recorder } from "../../lib/incremental/read_record.ts";
import type { RequestTokenPolicy } from "../../lib/mesh/request_authentication.ts";
import type { EffectiveDestinationRule, EffectiveVirtualService, EgressListener } from "../../lib/mesh/types.ts";
import {
  type Endpoint,
  type NetworkEntrance,
  type Registry,
  type Service,
  serviceKey,
} from "../../lib/registry/types.ts";
import { PatchSelection } from "../../lib/translate/reader/patch_selection.ts";
import type { ProxyProperties } from "../../lib/translate/reader/proxy_properties.ts";
import type { Reader } from "../../lib/translate/reader/reader.ts";
import { RecordingReader } from "../../lib/translate/reader/recording_reader.ts";
import { ScopeReader } from "../../lib/translate/reader/scope_reader.ts";
import type { TranslateSettings } from "../../lib/translate/reader/settings.ts";
import { translateSettings } from "../../lib/discovery/settings/settings.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import { inFile } from "../config/origins.ts";
import { Fixture } from "../discovery/fixture.ts";

/** A mesh and a proxy; all parts are optional. */
export interface ReaderWorld {
  readonly settings?: Partial<TranslateSettings>;
  readonly properties?: Partial<ProxyProperties>;
  readonly mesh?: Partial<MeshConfig>;
  readonly networks?: MeshNetworks;
  readonly services?: readonly Service[];
  /** By host. */
  readonly endpoints?: Readonly<Record<string, readonly Endpoint[]>>;
  /** By host. */
  readonly destinationRules?: Readonly<Record<string, EffectiveDestinationRule>>;
  /** By host. */
  readonly virtualServices?: Readonly<Record<string, EffectiveVirtualService>>;
  /** Egress listeners of a Sidecar with their visible hosts. Absent hosts: all. */
  readonly egress?: readonly (EgressListener & { readonly hosts?: readonly string[] })[];
  readonly outboundTrafficPolicy?: OutboundTrafficPolicy;
  readonly proxyHeaders?: ProxyHeaders;
  readonly tokenPolicy?: RequestTokenPolicy;
  /** Keys of token issuers by place. */
  readonly tokenKeys?: Readonly<Record<string, string>>;
  readonly gateways?: readonly ConfigObject<"Gateway">[];
  readonly telemetries?: readonly ConfigObject<"Telemetry">[];
  readonly wasmPlugins?: readonly ConfigObject<"WasmPlugin">[];
  readonly authorizationPolicies?: readonly ConfigObject<"AuthorizationPolicy">[];
  /** Ways into networks, by network. Default: the addresses that the networks name. */
  readonly entrances?: Readonly<Record<string, readonly NetworkEntrance[]>>;
  /** Objects as users write them. */
  readonly written?: readonly object[];
  /** Objects of any other kind. */
  readonly objects?: readonly AnyConfigObject[];
}

/** A reader. `asked` lists the queries, in order, each once. */
export interface AskedReader extends Reader {
  readonly asked: readonly string[];
}

/** A reader over a mesh with the services and objects. Defaults are the product's. */
export function meshReader(world: ReaderWorld = {}): AskedReader {
  const fixture = new Fixture({
    mesh: { ...world.mesh, ...(world.outboundTrafficPolicy && { outboundTrafficPolicy: world.outboundTrafficPolicy }) },
    networks: networksOf(world),
  });
  for (const [place, keys] of Object.entries(world.tokenKeys ?? {})) fixture.tokenKeys.set(place, keys);
  void fixture.pipeline.addRegistry(registryOf(world));
  for (const registry of entrancesByCluster(world)) void fixture.pipeline.addRegistry(registry);
  fixture.pipeline.configChanged([], [...objectsOf(world)]);
  fixture.put(...world.written ?? []);
  fixture.pipeline.flush();
  const properties = {
    ...plainProperties,
    ...world.properties,
    ...(world.proxyHeaders && { proxyHeaders: world.proxyHeaders }),
  };
  const { mesh } = fixture.pipeline.translator;
  const settings = { ...plainSettings, ...world.settings };
  const source = new ScopeReader(
    new PatchSelection(mesh),
    mesh.scope(properties.namespace, properties.labels),
    properties,
    settings,
  );
  return asking(new RecordingReader(new Recorder<ScopeReader>(source, new PropertyTree())));
}

/** Notes the questions, as `question/name`. */
function asking(reader: Reader): AskedReader {
  const asked = new Set<string>();
  return new Proxy(reader, {
    get(target, name) {
      if (name === "asked") return [...asked];
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== "function") return member;
      return (...args: unknown[]) => {
        const shown = args.map(nameOf).filter((arg) => arg !== undefined).slice(0, name === "virtualService" ? 1 : 2);
        asked.add([String(name), ...shown].join("/"));
        return member.apply(target, args);
      };
    },
  }) as AskedReader;
}

function nameOf(arg: unknown): string | undefined {
  if (typeof arg === "string") return arg;
  return typeof arg === "object" && arg !== null && "index" in arg ? String(arg.index) : undefined;
}

function registryOf({ services = [], endpoints = {} }: ReaderWorld): Registry {
  return {
    provider: "Orch",
    clusterId: "Orch",
    start(sink) {
      sink.services(services, []);
      for (const service of services) {
        sink.endpoints(serviceKey(service), "Orch/Orch", endpoints[service.hostname] ?? []);
      }
      return Promise.resolve();
    },
    stop: () => Promise.resolve(),
  };
}

/** The networks, with the ways into them that belong to no cluster. */
function networksOf({ networks = { networks: {} }, entrances = {} }: ReaderWorld): MeshNetworks {
  const named = Object.entries(entrances).map(([network, ways]) => {
    const gateways = ways.filter(({ clusterIds }) => clusterIds === undefined);
    return [network, { endpoints: [], gateways: gateways.map(({ address, port }) => ({ address, port })) }] as const;
  });
  return { networks: { ...Object.fromEntries(named), ...networks.networks } };
}

/** A registry for each cluster that has ways into networks. */
function entrancesByCluster({ entrances = {} }: ReaderWorld): Registry[] {
  const all = Object.values(entrances).flat();
  const clusters = new Set(all.flatMap(({ clusterIds = [] }) => clusterIds));
  return [...clusters].map((clusterId) => ({
    provider: "Orch",
    clusterId,
    start(sink) {
      sink.networks({ network: "", entrances: all.filter(({ clusterIds }) => clusterIds?.includes(clusterId)) });
      return Promise.resolve();
    },
    stop: () => Promise.resolve(),
  }));
}

function* objectsOf(world: ReaderWorld): Iterable<AnyConfigObject> {
  const { objects = [], gateways = [], telemetries = [], wasmPlugins = [], authorizationPolicies = [] } = world;
  yield* [...objects, ...gateways, ...telemetries, ...wasmPlugins, ...authorizationPolicies] as AnyConfigObject[];
  for (const [host, { name, namespace, spec }] of Object.entries(world.destinationRules ?? {})) {
    yield configObject("DestinationRule", `${namespace}/${name}`, { ...spec, host });
  }
  for (const effective of new Set(Object.values(world.virtualServices ?? {}))) {
    const { name, namespace, spec, hosts, gateways, creationTimestamp } = effective;
    const object = configObject("VirtualService", `${namespace}/${name}`, { ...spec, hosts, gateways });
    yield { ...object, meta: { ...object.meta, creationTimestamp } } as AnyConfigObject;
  }
  if (world.egress) {
    const egress = world.egress.map(({ index: _, hosts = ["*"], ...listener }) => {
      return { ...listener, hosts: hosts.map((host) => `*/${host}`) };
    });
    yield configObject("Sidecar", "default/own", { egress });
  }
  const { rules = [], causes = [] } = world.tokenPolicy ?? {};
  if (rules.length > 0) {
    const [, ...name] = (causes[0] ?? "RequestAuthentication/default/tokens").split("/");
    yield configObject("RequestAuthentication", name.join("/"), { jwtRules: rules });
  }
}

/** An object as read from configuration. */
export function configObject<K extends Kind>(
  kind: K,
  fullName: string,
  spec: ConfigObject<K>["spec"],
): AnyConfigObject {
  const [namespace = "default", name = ""] = fullName.split("/");
  return {
    kind,
    key: `${kind}/${namespace}/${name}`,
    meta: { name, namespace, labels: {}, annotations: {}, creationTimestamp: 0 },
    spec,
    origin: inFile("test"),
    hash: `${kind}/${namespace}/${name}`,
  } as unknown as AnyConfigObject;
}

/** A sidecar with redirection in namespace `default`, without an agent, with IPv4 only. */
export const plainProperties: ProxyProperties = new Fixture().nodes.read(
  { id: "sidecar~10.9.9.9~app.default~default.svc.cluster.local" },
  false,
  new Fixture().pipeline.mesh,
).properties;

/** Default settings. */
export const plainSettings: TranslateSettings = translateSettings(
  defaultSettings("pilot-discovery", {}),
  "cluster.local",
);
