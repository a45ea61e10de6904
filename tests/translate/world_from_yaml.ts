/**
 * A world for builders from what a user writes: ServiceEntry, DestinationRule, VirtualService, Gateway, AuthorizationPolicy, Telemetry and WasmPlugin documents, and one
 * `kind: World` document with what the proxy and the process are (`properties`, `settings`, `mesh`, `networks`), and `services` with `endpoints` by host that no ServiceEntry can spell.
 *
 * @module
 */
import { parseAllDocuments } from "yaml";
import { Findings } from "../../lib/finding/findings.ts";
import { authorizationPolicy } from "../../lib/config/kinds/authorization_policy/schema.ts";
import { destinationRule } from "../../lib/config/kinds/destination_rule/schema.ts";
import { gateway } from "../../lib/config/kinds/gateway/schema.ts";
import { serviceEntry } from "../../lib/config/kinds/service_entry/schema.ts";
import { telemetry } from "../../lib/config/kinds/telemetry/schema.ts";
import { virtualService } from "../../lib/config/kinds/virtual_service/schema.ts";
import { wasmPlugin } from "../../lib/config/kinds/wasm_plugin/schema.ts";
import { DecodeContext, type Field } from "../../lib/config/schema/field.ts";
import type { ConfigObject, Kind } from "../../lib/config/types.ts";
import type { EffectiveDestinationRule, EffectiveVirtualService } from "../../lib/mesh/types.ts";
import { effectiveVirtualServices } from "../../lib/mesh/virtual_service.ts";
import { VirtualServiceIndex } from "../../lib/mesh/virtual_service_index.ts";
import { convertEntry, hostEndpoints } from "../../lib/registry/service_entry/convert.ts";
import { mergeEntries } from "../../lib/registry/service_entry/merge.ts";
import type { Endpoint, Service } from "../../lib/registry/types.ts";
import type { FakeWorld } from "./fake_reader.ts";
import { inFile } from "../config/origins.ts";

interface Document {
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Record<string, string>;
    readonly annotations?: Record<string, string>;
  };
  readonly spec: unknown;
}

/** Reads the documents of one YAML text. Mistakes throw. */
export function worldFromYaml(text: string): FakeWorld {
  let world: FakeWorld = {};
  const services: Service[] = [];
  const endpoints: Record<string, readonly Endpoint[]> = {};
  const destinationRules: Record<string, EffectiveDestinationRule> = {};
  const routes: ConfigObject<"VirtualService">[] = [];
  const authorizationPolicies: ConfigObject<"AuthorizationPolicy">[] = [];
  const telemetries: ConfigObject<"Telemetry">[] = [];
  const wasmPlugins: ConfigObject<"WasmPlugin">[] = [];
  const gateways: ConfigObject<"Gateway">[] = [];
  for (const parsed of parseAllDocuments(text, { merge: true })) {
    const document = parsed.toJS({ maxAliasCount: 100 }) as Document;
    if (document === null) continue;
    if (document.kind === "World") world = document as unknown as FakeWorld;
    else if (document.kind === "ServiceEntry") addEntry(document, services, endpoints);
    else if (document.kind === "VirtualService") routes.push(configObject("VirtualService", document, virtualService));
    else if (document.kind === "Gateway") gateways.push(configObject("Gateway", document, gateway));
    else if (document.kind === "AuthorizationPolicy") {
      authorizationPolicies.push(configObject("AuthorizationPolicy", document, authorizationPolicy));
    } else if (document.kind === "Telemetry") telemetries.push(configObject("Telemetry", document, telemetry));
    else if (document.kind === "WasmPlugin") wasmPlugins.push(configObject("WasmPlugin", document, wasmPlugin));
    else addRule(document, destinationRules);
  }
  const all = [...world.services ?? [], ...services];
  return {
    ...world,
    services: all,
    endpoints: { ...world.endpoints, ...endpoints },
    destinationRules,
    virtualServices: byHost(all, routes, world),
    authorizationPolicies,
    telemetries,
    wasmPlugins,
    gateways,
  };
}

/** The virtual service in force for each host that a service has or a virtual service names. */
function byHost(
  services: readonly Service[],
  objects: readonly ConfigObject<"VirtualService">[],
  world: FakeWorld,
): Record<string, EffectiveVirtualService> {
  const effective = effectiveVirtualServices(objects, { domainSuffix: "cluster.local", defaultExportTo: ["*"] });
  const index = new VirtualServiceIndex();
  index.update([], effective);
  const found: Record<string, EffectiveVirtualService> = {};
  for (const host of [...services.map((s) => s.hostname), ...index.hosts()]) {
    const vs = index.visible(host, world.properties?.namespace ?? "default", undefined);
    if (vs) found[host] = vs;
  }
  return found;
}

function addEntry(document: Document, services: Service[], endpoints: Record<string, readonly Endpoint[]>): void {
  const object = configObject("ServiceEntry", document, serviceEntry);
  const entry = convertEntry(object, { clusterId: "Orch", drainingLabel: "mesh.io/draining" });
  for (const host of entry.hosts) {
    services.push(mergeEntries(host, [entry]).service);
    const byName = entry.resolution === "dns" || entry.resolution === "dnsRoundRobin";
    endpoints[host] = entry.inline.length === 0 && byName ? hostEndpoints(host, entry, "Orch") : entry.inline;
  }
}

function addRule(document: Document, rules: Record<string, EffectiveDestinationRule>): void {
  const { meta, spec, key } = configObject("DestinationRule", document, destinationRule);
  rules[spec.host] = { name: meta.name, namespace: meta.namespace, spec, causes: [key] };
}

function configObject<K extends Kind>(
  kind: K,
  document: Document,
  schema: Field<ConfigObject<K>["spec"]>,
): ConfigObject<K> {
  const findings = new Findings();
  const spec = schema.decode(document.spec, new DecodeContext("spec", findings));
  const { name, namespace = "default", labels = {}, annotations = {} } = document.metadata;
  if (spec === undefined || findings.list.length > 0) {
    throw new Error(`${kind} ${name}: ${findings.list.map((f) => f.message).join("; ")}`);
  }
  return {
    kind,
    key: `${kind}/${namespace}/${name}`,
    meta: { name, namespace, labels, annotations, creationTimestamp: 0 },
    spec,
    origin: inFile("test"),
    hash: "",
  };
}
