/**
 * Finds objects, and parts of objects, that no resource of any proxy is made from. Each change updates the findings.
 *
 *     push, proxies ─> look at resources ─> objects that came into force or went ─> their judges ─> findings
 *
 * `in_force.ts` says what a look costs. An object is judged when the object changes, and when a part of the object
 * comes into force or goes. An object with an unused part is judged at every look, because the verdict depends on the
 * connected proxies.
 *
 * @module
 */
import { type Finding, findingOf, shownValue } from "../finding/finding.ts";
import { type FindingName, titleOf } from "../finding/codes.ts";
import { objectName } from "../finding/object_name.ts";
import { isSuppressed, suppressedCodes } from "../finding/suppress.ts";
import { isMadeOfGatewayApi } from "../config/derive/made_of_gateway_api.ts";
import type { AnyConfigObject } from "../config/types.ts";
import type { Mesh } from "../mesh/mesh.ts";
import type { Scope } from "../mesh/scope.ts";
import type { PatchOutcome } from "../patches/types.ts";
import type { ProxyState } from "../translate/machine/per_proxy/proxy_state.ts";
import { profileOf } from "../translate/reader/proxy_profile.ts";
import { rolesOf } from "../translate/reader/waypoint_role.ts";
import { AskedRoutes } from "./asked_routes.ts";
import { EntryHosts } from "./entry_hosts.ts";
import { InForce } from "./in_force.ts";
import type { EffectWorld, JudgedProxy, UnusedPart } from "./judge.ts";
import { JUDGES } from "./judges.ts";
import { DestinationFinder } from "./destinations.ts";
import { TelemetryUses } from "./telemetry_uses.ts";

/** The name of the finding. */
const NAME = "reaches-no-proxy";

/** Findings kept for each object, and objects with findings. Further findings say nothing new. */
const MAX_OF_ONE = 20;
const MAX_OBJECTS = 2000;

/** The translation under analysis. */
export interface LookedAt {
  readonly mesh: Mesh;
  proxies(): Iterable<ProxyState>;
  patchOutcomes(): Iterable<PatchOutcome>;
}

/** What the analysis asks about other findings and about proxies. */
export interface EffectOptions {
  /** Objects in force, by key. */
  readonly object: (key: string) => AnyConfigObject | undefined;
  /** Whether only the namespace or the Gateway of a proxy's workload is known. Default: no proxy is such a stand-in. */
  readonly standsIn?: (state: ProxyState) => boolean;
  /** Whether an object may have an effect without proxies, such as at node tunnels. Default: no object has. */
  readonly hasOther?: (object: AnyConfigObject) => boolean;
}

export class EffectAnalysis {
  readonly #options: EffectOptions;
  #inForce = new InForce();
  readonly #entryHosts = new EntryHosts();
  readonly #finder = new DestinationFinder(new AskedRoutes());
  #mesh: Mesh | undefined;
  #applied: ReadonlySet<string> = new Set();
  /**
   * Whether a patch replaced or removed a resource. The names of the parts behind the resource are then lost.
   */
  #takesAway = false;
  #patches = 0;
  /** Objects to judge. */
  readonly #pending = new Set<string>();
  /**
   * Findings by object. The findings stay the same while the unused parts of the object stay the same, so places are
   * looked up once.
   */
  readonly #unused = new Map<string, readonly UnusedFinding[]>();
  /** Objects with an unused part. */
  readonly #dead = new Set<string>();

  constructor(options: EffectOptions) {
    this.#options = options;
  }

  /** Whether there is nothing to find. */
  get isEmpty(): boolean {
    return this.#unused.size === 0;
  }

  /** Notes objects that came, changed or went. */
  changed(keys: Iterable<string>): void {
    for (const key of keys) this.#pending.add(key);
  }

  /** Brings the findings up to date, in steps. */
  *steps(of: LookedAt): Generator<void, void> {
    if (of.mesh !== this.#mesh) {
      this.#mesh = of.mesh;
      this.#inForce = new InForce();
    }
    this.#noteEntries(of.mesh);
    const states = [...of.proxies()];
    yield* this.#inForce.look(states);
    this.changed(this.#inForce.takeChanged());
    yield* this.#lookAtPatches(of);
    // After a failed build proxies keep the earlier resources, so a missing part proves nothing.
    const isWhole = !states.some(({ failing, proxyClass }) => failing || proxyClass.failing);
    const { standsIn = () => false } = this.#options;
    if (states.length === 0 || !isWhole) return this.#unused.clear();
    const proxies = distinct(states.map((state) => judgedProxy(state, of.mesh, standsIn(state))), withLabels);
    const world = {
      mesh: of.mesh,
      inForce: this.#inForce,
      applied: this.#applied,
      proxies,
      views: distinct(proxies, withoutLabels),
      routers: proxies.filter(({ type }) => profileOf(type).gateways),
      object: this.#options.object,
      sidecars: sidecarsOf(proxies),
      destinationsOf: this.#finder.look(states),
      entryHosts: this.#entryHosts,
      telemetries: new TelemetryUses(of.mesh, proxies),
    };
    this.changed(this.#dead);
    for (const key of this.#pending) {
      this.#pending.delete(key);
      this.#judge(key, { ...world, noteDead: () => void this.#dead.add(key) });
      yield;
    }
  }

  #noteEntries({ domainSuffix }: Mesh): void {
    for (const key of this.#pending) {
      if (!key.startsWith("ServiceEntry/")) continue;
      const object = this.#options.object(key);
      this.#entryHosts.put(key, object?.kind === "ServiceEntry" ? object : undefined, domainSuffix);
    }
  }

  *#lookAtPatches(of: LookedAt): Generator<void, void> {
    const filters = [...of.mesh.proxyFilters];
    if (filters.length === 0 && this.#patches === 0) return;
    this.#patches = filters.length;
    const applied = new Set<string>();
    let takesAway = false;
    for (const { patch, error } of of.patchOutcomes()) {
      if (error !== undefined) continue;
      applied.add(`${patch.filter} ${patch.index}`);
      takesAway ||= patch.operation === "REPLACE" || patch.operation === "REMOVE";
    }
    yield;
    this.#applied = applied;
    this.#takesAway = takesAway;
    this.changed(filters.map(({ key }) => key));
  }

  /** While a patch takes resources away, the other objects are not judged. They are judged again later. */
  #unusedParts(object: AnyConfigObject, world: EffectWorld): readonly UnusedPart[] {
    if (!this.#takesAway || object.kind === "ProxyFilter") return JUDGES[object.kind](object, world);
    world.noteDead();
    return [];
  }

  #judge(key: string, world: EffectWorld): void {
    const object = this.#options.object(key);
    this.#dead.delete(key);
    const isJudged = object !== undefined && !isMadeOfGatewayApi(object) && !this.#options.hasOther?.(object);
    const unused = isJudged ? this.#unusedParts(object, world) : [];
    const before = this.#unused.get(key);
    if (unused.length === 0) this.#unused.delete(key);
    else if (before === undefined ? this.#unused.size < MAX_OBJECTS : !isSame(before, unused)) {
      this.#unused.set(key, unused.map((part) => ({ part, finding: findingAbout(key, part) })));
    }
  }

  /** The findings, by object. */
  *findings(others: OtherFindings): Iterable<Finding> {
    for (const key of [...this.#unused.keys()].sort()) yield* this.findingsOf(key, others);
  }

  /** The findings about an object. */
  findingsOf(key: string, others: OtherFindings): Finding[] {
    const unused = this.#unused.get(key);
    const object = unused && this.#options.object(key);
    if (unused === undefined || object === undefined) return [];
    const said = others(key);
    const codes = suppressedCodes(object.meta.annotations);
    return unused.filter(({ part }) => !isSaid(part, said)).slice(0, MAX_OF_ONE)
      .map(({ finding }) => finding)
      .filter(({ code }) => !isSuppressed(code, codes));
  }
}

interface UnusedFinding {
  readonly part: UnusedPart;
  readonly finding: Finding;
}

function isSame(before: readonly UnusedFinding[], now: readonly UnusedPart[]): boolean {
  return JSON.stringify(before.map(({ part }) => part)) === JSON.stringify(now);
}

/** The other findings about an object, by the object's key. */
export type OtherFindings = (key: string) => readonly Finding[];

function judgedProxy(
  { proxy: { namespace, properties }, proxyClass }: ProxyState,
  mesh: Mesh,
  standsIn: boolean,
): JudgedProxy {
  const { type, labels } = properties;
  const roles = rolesOf(properties, mesh);
  return { type, namespace, labels, scope: proxyClass.scope, roles, standsIn };
}

function sidecarsOf(proxies: readonly JudgedProxy[]): Map<string, Set<Scope>> {
  const byKey = new Map<string, Set<Scope>>();
  for (const { scope } of proxies) {
    if (scope.sidecar !== undefined) byKey.getOrInsertComputed(scope.sidecar.key, () => new Set()).add(scope);
  }
  return byKey;
}

/** A single proxy of each scope and name. */
function distinct(proxies: readonly JudgedProxy[], nameOf: (proxy: JudgedProxy) => string): JudgedProxy[] {
  const byScope = new Map<JudgedProxy["scope"], Set<string>>();
  return proxies.filter((proxy) => {
    const names = byScope.getOrInsertComputed(proxy.scope, () => new Set());
    const name = nameOf(proxy);
    return !names.has(name) && names.add(name);
  });
}

function withoutLabels({ type, namespace, standsIn }: JudgedProxy): string {
  return `${type} ${namespace} ${standsIn}`;
}

function withLabels(proxy: JudgedProxy): string {
  return `${withoutLabels(proxy)} ${JSON.stringify(proxy.labels)}`;
}

/** Fields that decide for whom an object as a whole is meant. */
const HEADS = [
  "metadata",
  "spec.exportTo",
  "spec.gateways",
  "spec.host",
  "spec.hosts",
  "spec.selector",
  "spec.targetRef",
  "spec.targetRefs",
  "spec.workloadSelector",
];

/** Sorts of findings about the behaviour of a part in force. Such findings do not explain a part without an effect. */
const OF_PARTS_IN_FORCE: ReadonlySet<FindingName> = new Set([
  "deprecated-field",
  "filter-order",
  "filter-order-by-version",
  "port-required",
  "unverified-server",
  "unverified-server-port",
]);

/** Whether other findings say already why a part has no effect. */
function isSaid({ field, parts = [] }: UnusedPart, findings: readonly Finding[]): boolean {
  const said = findings.filter(({ severity, name }) => severity !== "info" && !OF_PARTS_IN_FORCE.has(name))
    .map(({ place }) => place.field);
  if (said.some((one) => one === "" || HEADS.some((head) => isWithin(one, head)))) return true;
  const isReported = (path: string) => said.some((one) => isWithin(one, itemOf(path)) || isWithin(itemOf(path), one));
  return (field !== "" && isReported(field)) || (parts.length > 0 && parts.every(isReported));
}

/** The path of the nearest list item around a field. */
function itemOf(field: string): string {
  const end = field.lastIndexOf("]");
  return end < 0 ? field : field.slice(0, end + 1);
}

function isWithin(field: string, of: string): boolean {
  return field === of || field.startsWith(`${of}.`) || field.startsWith(`${of}[`);
}

function findingAbout(key: string, { field, value, expected, others = [] }: UnusedPart): Finding {
  const shown = shownValue(value);
  const what = [field, shown].filter((part) => part !== "").join(": ");
  const objects = [key, ...others].map(objectName);
  const message = `${titleOf(NAME, false)}${what === "" ? "" : `: ${what}`}, expected ${expected}`;
  return findingOf(NAME, { severity: "warning", place: { objects, field, line: 0 }, value: shown, expected, message });
}
