/**
 * All faults of a mesh of texts: the findings of reading the texts, the findings of the analysis of the whole mesh, and
 * settings that the implied proxies would not get.
 *
 * @module
 */
import { compareTexts } from "../../kernel/text/compare.ts";
import { Analysis } from "../../analyze/analysis.ts";
import { servedGatewayApi } from "../../analyze/reader/source.ts";
import { OTHER_TEXT, TEMPLATE } from "../../config/document/manifest.ts";
import { FACT_KINDS, isFactKind } from "../../config/facts/types.ts";
import { refusedKeys } from "../../config/refused/refused_keys.ts";
import { EffectAnalysis } from "../../effect/effect_analysis.ts";
import { byObject, type Finding, findingIdentity, findingKeys, type Severity } from "../../finding/finding.ts";
import type { Origin } from "../../finding/origin.ts";
import { saidOnce } from "../../finding/said_once.ts";
import { contentOf } from "../../folder/file.ts";
import { systemClock } from "../../kernel/time/clock.ts";
import { serviceKey } from "../../registry/types.ts";
import type { ProxyState } from "../../translate/machine/per_proxy/proxy_state.ts";
import { NodeRefused } from "../../translate/proxy/identity.ts";
import { FieldPlaces } from "../field_place.ts";
import type { OfflineMesh } from "../offline_mesh.ts";
import { NO_ADDRESS, proxiesOf } from "../workloads.ts";

// Findings about nothing but the ports of assumed proxies. An endpoint of a ServiceEntry may be a workload with a
// sidecar, or a gateway of another mesh for many services. The texts do not say which.

class AssumedProxies {
  readonly #mesh: OfflineMesh;
  #known: ReadonlyMap<string, boolean> | undefined;

  constructor(mesh: OfflineMesh) {
    this.#mesh = mesh;
  }

  /** Whether a finding is about a port of workloads without any known proxy. */
  concernedAlone(found: Finding): boolean {
    if (found.name !== "inbound-conflict") return false;
    const { aggregate, endpoints } = this.#mesh.pipeline;
    const keys = new Set(findingKeys(found));
    const addresses = [...aggregate.services()].filter(({ cause }) => keys.has(cause))
      .flatMap((service) => endpoints.endpoints(serviceKey(service)).map(({ address }) => address));
    return addresses.length > 0 && addresses.every((address) => this.#assumed().get(address) === true);
  }

  /** Whether the proxy of an address is assumed: an entry lists the endpoint, and no text tells about a proxy. */
  #assumed(): ReadonlyMap<string, boolean> {
    return this.#known ??= new Map(
      proxiesOf(this.#mesh).proxies.map((
        { address, entry, runs },
      ) => [address, entry !== undefined && runs === undefined]),
    );
  }
}

/** How a mesh is checked. */
export interface CheckOptions {
  /** Services of an orchestrator exist in addition to the services in the texts. */
  readonly assumeServices: boolean;
  /** The texts have the whole mesh, so anything missing does not exist. Default false. */
  readonly whole?: boolean;
  /** Text of a file that was read. */
  readonly textOf: (file: string) => string | undefined;
  /** Wall time in milliseconds since 1970, for the end of certificates. Default: the machine's time. */
  readonly now?: () => number;
  /** Called now and then with the progress in words. */
  readonly progress?: (text: string) => void;
}

/** The result of a check: its scope, and the findings. */
export interface CheckResult {
  /** By file and line. */
  readonly findings: readonly Finding[];
  /**
   * Objects of the mesh's kinds in the texts. Refused objects count, and so does each of several objects with a common
   * name.
   */
  readonly objects: number;
  /** Manifests of an orchestrator, counted in the same way. */
  readonly manifests: number;
  /** Objects of other kinds. */
  readonly passedOver: number;
  /** The same by kind, the most frequent first. */
  readonly passedOverKinds: Readonly<Record<string, number>>;
  /** Proxies implied and not denied by the texts. The resources of each proxy are translated. */
  readonly proxies: number;
}

/** Checks, in steps. The proxies stay joined. */
export function* checkMesh(mesh: OfflineMesh, options: CheckOptions): Generator<void, CheckResult> {
  const { progress = () => {} } = options;
  const proxies = proxiesOf(mesh).proxies.filter(({ runs }) => runs !== false);
  for (const [at, { node }] of proxies.entries()) {
    progress(`translated for ${at} of ${proxies.length} proxies`);
    try {
      mesh.join(node);
    } catch (error) {
      if (!(error instanceof NodeRefused)) throw error; // Labels that a proxy could not send in its first request.
    }
    yield;
  }
  const findings = yield* meshFindings(mesh, options);
  return { findings, ...countWritten(mesh), ...passedOver(mesh), proxies: proxies.length };
}

/** Findings of a mesh and of its proxies' resources, by file and line, each once. */
export function* meshFindings(mesh: OfflineMesh, options: CheckOptions): Generator<void, readonly Finding[]> {
  const analyzed = yield* analysisFindings(mesh, options);
  const unused = yield* effectFindings(mesh, options, analyzed);
  const places = new FieldPlaces(options.textOf);
  // Translation finds hosts without a service, too. The analysis reports the field, and knows the assumed hosts.
  const assumed = new AssumedProxies(mesh);
  const translated = mesh.findings().filter((one) => one.name !== "unknown-host" && !assumed.concernedAlone(one))
    .map((one) => ({ ...one, severity: severityInTexts(one, mesh, options.whole ?? false) }));
  const found = [...translated, ...analyzed, ...unused].map((one) => placed(one, mesh, places));
  const distinct = [...new Map(found.map((one) => [findingIdentity(one), one])).values()];
  return [...saidOnce(distinct)].sort(byPlace);
}

function* analysisFindings(
  mesh: OfflineMesh,
  { assumeServices, whole = false, progress, now = systemClock.now }: CheckOptions,
): Generator<void, Finding[]> {
  const { translator } = mesh.pipeline;
  const { store, facts } = mesh;
  const analysis = new Analysis({
    store,
    facts,
    settings: {
      ...{ domainSuffix: mesh.domain, assumeServices, whole },
      waypoints: mesh.settings.PILOT_ENABLE_AMBIENT_WAYPOINTS,
    },
    gatewayApi: servedGatewayApi(mesh.gatewayApi, { domain: mesh.domain, isFolder: true }, mesh.settings),
    now,
    failed: (key, error) => mesh.failures.push({ what: `analysis of ${key}`, error }),
  }, translator.mesh);
  analysis.reset(translator.mesh, mesh.objects.values());
  const added = FACT_KINDS.flatMap((kind) => [...facts.list(kind)]);
  analysis.factsChanged({ added, updated: [], removed: [], refreshed: [], hidden: { before: [], after: [] } });
  analysis.refusedChanged(refusedKeys({ store, findings: () => mesh.index.findings() as Finding[] }));
  let done = 0;
  for (const _ of analysis.steps()) {
    progress?.(`analyzed ${++done} of ${mesh.objects.size} objects`);
    yield;
  }
  return [...analysis.findings()];
}

/** A finding with the place of its field. Findings of the whole mesh know only objects and paths. */
function placed(found: Finding, mesh: OfflineMesh, places: FieldPlaces): Finding {
  const [key] = findingKeys(found);
  const origin: Origin | undefined = found.place.origin ?? originOf(mesh, key);
  if (found.place.line > 0 || origin === undefined) return found;
  const place = places.of(origin, found.place.field);
  return place === undefined ? found : { ...found, place: { ...found.place, ...place, origin } };
}

function originOf(mesh: OfflineMesh, key: string | undefined): Origin | undefined {
  if (key === undefined) return undefined;
  return (mesh.objects.get(key) ?? mesh.facts.at(key))?.origin;
}

const ORDER: Readonly<Record<Severity, number>> = { error: 0, warning: 1, info: 2 };

function byPlace(a: Finding, b: Finding): number {
  const file = (one: Finding) => one.place.origin?.from === "file" ? one.place.origin.file : "";
  return compareTexts(file(a), file(b)) || a.place.line - b.place.line || ORDER[a.severity] - ORDER[b.severity] ||
    compareTexts(a.message, b.message);
}

function countWritten({ index }: OfflineMesh): Pick<CheckResult, "objects" | "manifests"> {
  let [objects, manifests] = [0, 0];
  for (const document of index.paths.flatMap((path) => index.file(path)?.documents ?? [])) {
    const content = contentOf(document);
    // The document does not look like configuration of the mesh, and is passed over.
    if (content.unless !== undefined && document.live.length === 0) continue;
    const refusedManifests = content.refused.filter(({ kind }) => isFactKind(kind)).length;
    manifests += content.facts.length + refusedManifests;
    objects += content.objects.length + content.refused.length - refusedManifests;
  }
  return { objects, manifests };
}

/** Texts without an object, and templates of charts, are not counted. */
function passedOver({ index }: OfflineMesh): Pick<CheckResult, "passedOver" | "passedOverKinds"> {
  const kinds = [...index.passedOver()].filter(([label]) => label !== OTHER_TEXT && label !== TEMPLATE)
    .map(([label, { count }]): [string, number] => [label, count])
    .sort(([a, some], [b, others]) => others - some || compareTexts(a, b));
  return { passedOver: kinds.reduce((sum, [, count]) => sum + count, 0), passedOverKinds: Object.fromEntries(kinds) };
}

/**
 * Findings about parts that reach no proxy. Empty if services are not known: a part for an unknown service may have an
 * effect.
 */
function* effectFindings(
  mesh: OfflineMesh,
  { assumeServices, progress }: { readonly assumeServices: boolean; readonly progress?: (text: string) => void },
  analyzed: readonly Finding[],
): Generator<void, Finding[]> {
  if (assumeServices || !mesh.knowsServices) return [];
  const { objects, pipeline: { translator } } = mesh;
  progress?.("looked for what reaches no proxy");
  const standsIn = ({ proxy }: ProxyState) => proxy.addresses.includes(NO_ADDRESS);
  const effects = new EffectAnalysis({ object: (key) => objects.get(key), standsIn });
  effects.changed(objects.keys());
  yield* effects.steps(translator);
  const said = byObject([...analyzed, ...mesh.findings()]);
  return [...effects.findings((key) => said.get(key) ?? [])];
}

// The severity of a translation finding about something missing in the texts. A server has the whole mesh and reports
// an error; texts seldom have the whole mesh.

/** Something missing that may lie elsewhere is a warning, unless the texts have the whole mesh. */
function severityInTexts(
  { name, severity }: Finding,
  mesh: Pick<OfflineMesh, "hasMeshConfig">,
  whole: boolean,
): Severity {
  if (whole || severity !== "error") return severity;
  // Teams that write routes seldom own the gateways of the routes.
  if (name === "gateway-port-without-rule") return "warning";
  // Without a mesh configuration no provider is known, so every name of a provider is unknown.
  return name === "unusable-authorizer" && !mesh.hasMeshConfig ? "warning" : severity;
}
