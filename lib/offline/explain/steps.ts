/**
 * The steps of a simulation in the words of configuration: the object and field behind each step, and rules that nearly
 * matched.
 *
 * @module
 */
import { type AnyConfigObject, objectKey } from "../../config/types.ts";
import type { HttpRoute } from "../../config/kinds/kinds.ts";
import { type RuleSource, ruleSourceKey, ruleSourceText } from "../../config/kinds/virtual_service/internal.ts";
import type { ExplainedStep, ProxyOnWay } from "../../debug/explanation.ts";
import type {
  ClusterStep,
  MirrorStep,
  PassedRoute,
  ProxyResources,
  Simulation,
  SimulationStep,
  VirtualHostStep,
} from "../../simulate/types.ts";
import { parseOutboundClusterName } from "../../translate/destination/names.ts";
import { keyInMetadata, ruleInMetadata } from "../../translate/message/object_metadata.ts";
import { type DelegateRules, type RuleAt, rulesBehind } from "./rules.ts";
import type { ExplainWorld } from "./world.ts";
import { profileOf } from "../../translate/reader/proxy_profile.ts";

/** Where steps are looked at. */
export interface StepSurroundings {
  readonly resources: ProxyResources;
  readonly world: ExplainWorld;
  readonly proxy: ProxyOnWay;
  /** The dialled port. */
  readonly port: number;
}

/** The steps with an object behind them. The simulation's other steps (first bytes, filters) are left out. */
export function explainedSteps(simulation: Simulation, around: StepSurroundings): ExplainedStep[] {
  let host: VirtualHostStep | undefined;
  return simulation.steps.flatMap((step) => {
    if (step.step === "virtualHost") host = step;
    if (step.step === "listener") return [listenerStep(step, simulation, around)];
    return stepsOf(step, host, around);
  });
}

/** Several objects may share a listener. The step names the object that later steps of this request name, too. */
function listenerStep(
  step: Extract<SimulationStep, { step: "listener" }>,
  { steps }: Simulation,
  around: StepSurroundings,
): ExplainedStep {
  const { causes = [], name } = step;
  const behind = steps.flatMap((one) => one.step === "virtualHost" || one.step === "cluster" ? one.causes ?? [] : []);
  const key = behind.find((one) => causes.includes(one)) ?? causes[0];
  return { what: "listener", name, text: listenerText(step, around), ...cause(key, "", around) };
}

function stepsOf(step: SimulationStep, host: VirtualHostStep | undefined, around: StepSurroundings): ExplainedStep[] {
  switch (step.step) {
    case "filterChain":
      return isPlainChain(step) ? [] : [{
        what: "chain",
        name: step.name || (step.index < 0 ? "default" : `#${step.index}`),
        text: [...step.matched, ...(step.index < 0 ? ["no other chain matches"] : [])].join(", "),
      }];
    case "routeConfiguration":
      return [];
    case "virtualHost":
      return [hostStep(step, around)];
    case "route":
    case "noRoute":
      return host === undefined ? [] : ruleSteps(step, host, around);
    case "action":
      return rewriteSteps(step);
    case "mirror":
      return [mirrorStep(step, around)];
    case "cluster":
      return [clusterStep(step, around)];
    case "listener":
    case "detection":
    case "networkFilter":
      return [];
  }
}

/**
 * What is unusual about the choice of the listener; empty: nothing. Only inbound connections usually stay at a virtual
 * listener.
 */
function listenerText(
  { name, why }: Extract<SimulationStep, { step: "listener" }>,
  { port }: StepSurroundings,
): string {
  if (why !== "no listener for the original destination") return why === "wildcard address" ? "" : why;
  return name === "virtualInbound" ? "" : `no other listener takes port ${port}`;
}

/** The transport to the endpoints; empty for plain text. */
function transportText({ transport, tls, endpoints }: Extract<SimulationStep, { step: "cluster" }>): string {
  const used = endpoints.filter(({ healthy }) => healthy);
  if (used.length > 0 && used.every(({ hbone }) => hbone)) return "HBONE";
  const all = (one: "plaintext" | "tls") => used.length > 0 && used.every((endpoint) => endpoint.transport === one);
  if (transport === "plaintext" || all("plaintext")) return "";
  if (all("tls") || transport === "tls" && tls?.certificate === "mesh") return "mutual TLS";
  return transport;
}

/** Whether the listener's step has reported the chain already. */
function isPlainChain(step: Extract<SimulationStep, { step: "filterChain" }>): boolean {
  return step.index >= 0 &&
    step.matched.every((one) => /^(?:transport raw_buffer|application protocol http)/.test(one));
}

function cause(
  key: string | undefined,
  field: string,
  { world }: StepSurroundings,
): Pick<ExplainedStep, "object" | "field" | "place"> {
  if (key === undefined) return {};
  const object = world.object(key);
  const place = object && world.place(object.origin, field);
  return { object: key, ...(field === "" ? {} : { field }), ...(place === undefined ? {} : { place }) };
}

/**
 * The virtual service behind the routes, or else the object behind the virtual host. If the server derived the virtual
 * service from routes of the Gateway API, the step names the first route, which a user wrote.
 */
function hostStep(step: VirtualHostStep, around: StepSurroundings): ExplainedStep {
  const keys = step.causes ?? [];
  const virtualService = keys.find((one) => one.startsWith("VirtualService/"));
  const isMade = virtualService !== undefined && around.world.object(virtualService)?.origin.from === "derived";
  const route = isMade ? keys.find((one) => one.startsWith("HTTPRoute/") || one.startsWith("GRPCRoute/")) : undefined;
  const key = route ?? virtualService ?? keys[0];
  const full = step.name.replace(/:\d+$/, "");
  const name = shortHost(full, around);
  const text = step.domain === full || step.domain === name ? "" : `domain ${step.domain}`;
  const field = key === undefined ? "" : route === undefined ? "spec.hosts" : "spec.hostnames";
  return { what: "host", name, text, ...cause(key, field, around) };
}

type RouteLike = Extract<SimulationStep, { step: "route" | "noRoute" }>;

function ruleSteps(step: RouteLike, host: VirtualHostStep, around: StepSurroundings): ExplainedStep[] {
  const places = new RulePlaces(step.routes, host, around);
  const rule = (route: Pick<PassedRoute, "index" | "name">, matches: boolean, text: string): ExplainedStep => {
    const source = ruleInMetadata(step.routes[route.index]?.metadata);
    if (source !== undefined) return { what: "rule", matches, text, ...sourceStep(source, around) };
    const { owner, at } = places.of(route.index);
    const name = at === undefined ? route.name || `#${route.index}` : ruleName(at, route.name);
    return { what: "rule", name, matches, text, ...cause(at?.delegate?.key ?? owner, at?.field ?? "", around) };
  };
  const passed = step.passed.map((route) => rule(route, false, route.why));
  if (step.step === "noRoute") return passed;
  const share = step.share === undefined ? "" : `, ${percent(step.share)} of requests`;
  const filters = step.filters.length === 0 ? "" : `, with ${step.filters.map(shortFilter).join(", ")}`;
  const { abort } = step;
  const ended = abort === undefined ? "" : `, ${percent(abort.share)} answered ${abort.status} by the fault`;
  return [...passed, rule(step, true, `${step.match}${share}${filters}${ended}`)];
}

/** The rule of a route in its author's words: `HTTPRoute shop/web rule 2 match 0`. */
function sourceStep(source: RuleSource, around: StepSurroundings): Pick<ExplainedStep, "name" | "object"> {
  const { rule, match } = source;
  const field = `spec.rules[${rule}]${match === undefined ? "" : `.matches[${match}]`}`;
  return { name: ruleSourceText(source), ...cause(ruleSourceKey(source), field, around) };
}

/** `2 "beta"`; for the first rule of the delegate that rule 2 names: `2.1 "beta"`. */
function ruleName({ rule, delegate }: RuleAt, name: string): string {
  const number = delegate === undefined ? `${rule + 1}` : `${rule + 1}.${delegate.rule + 1}`;
  return name === "" ? number : `${number} ${JSON.stringify(name)}`;
}

function shortFilter(name: string): string {
  return name.replace(/^envoy\.filters\.http\./, "");
}

/** The rules behind the routes of a virtual host, which may be of several virtual services. */
class RulePlaces {
  readonly #routes: RouteLike["routes"];
  readonly #around: StepSurroundings;
  /** Key of the virtual service behind each route. */
  readonly #owners: readonly (string | undefined)[];
  readonly #places = new Map<string | undefined, readonly (RuleAt | undefined)[]>();

  constructor(routes: RouteLike["routes"], { causes = [] }: VirtualHostStep, around: StepSurroundings) {
    [this.#routes, this.#around] = [routes, around];
    const first = causes.find((one) => one.startsWith("VirtualService/"));
    this.#owners = routes.map(({ metadata }) => keyInMetadata(metadata) ?? first);
  }

  /** The virtual service behind a route, and the place of the rule there. */
  of(index: number): { readonly owner: string | undefined; readonly at: RuleAt | undefined } {
    const owner = this.#owners[index];
    const places = this.#places.getOrInsertComputed(owner, () => {
      const own = this.#routes.map((route, at) => this.#owners[at] === owner ? route : {});
      return routePlaces(own, owner, this.#around);
    });
    return { owner, at: places[index] };
  }
}

function routePlaces(
  routes: RouteLike["routes"],
  key: string | undefined,
  { world, proxy, port }: StepSurroundings,
): readonly (RuleAt | undefined)[] {
  const object = key === undefined ? undefined : world.object(key);
  if (!isVirtualService(object)) return [];
  const { namespace, labels, type } = proxy;
  const [, owner = ""] = key!.split("/");
  const written = {
    rules: object.spec.http ?? [],
    delegateOf: (rule: HttpRoute) => delegateOf(rule, owner, world),
    segmentPrefixes: object.spec.internal !== undefined,
  };
  return rulesBehind(routes, written, { namespace, labels, port, mesh: !profileOf(type).gateways });
}

function delegateOf({ delegate }: HttpRoute, owner: string, world: ExplainWorld): DelegateRules | undefined {
  const key = objectKey("VirtualService", delegate?.namespace || owner, delegate?.name ?? "");
  const object = world.object(key);
  return isVirtualService(object) ? { key, rules: object.spec.http ?? [] } : undefined;
}

function isVirtualService(
  object: Pick<AnyConfigObject, "kind" | "spec"> | undefined,
): object is Extract<AnyConfigObject, { kind: "VirtualService" }> {
  return object?.kind === "VirtualService";
}

function rewriteSteps({ rewritten, path = "", authority = "" }: Extract<SimulationStep, { step: "action" }>) {
  return rewritten ? [{ what: "rewrite", name: "", text: `path ${path}, host ${authority}` } as const] : [];
}

function mirrorStep({ share, cluster }: MirrorStep, around: StepSurroundings): ExplainedStep {
  const step = clusterStep(cluster, around);
  return { ...step, what: "mirror", text: [`${percent(share)} of requests`, step.text].join(", ") };
}

function clusterStep(step: ClusterStep, around: StepSurroundings): ExplainedStep {
  const target = parseOutboundClusterName(step.name);
  const share = step.share === undefined ? "" : percent(step.share);
  const healthy = step.endpoints.filter((one) => one.healthy).length;
  const state = step.type === "missing"
    ? "does not exist"
    : step.type === "ORIGINAL_DST"
    ? "the address that was dialled"
    : `${healthy} of ${step.endpoints.length} healthy`;
  const text = [share, state, transportText(step)].filter(Boolean).join(", ");
  const rule = step.causes?.find((one) => one.startsWith("DestinationRule/"));
  const subset = target?.subset ?? "";
  const key = subset === "" ? step.causes?.[0] : rule ?? step.causes?.[0];
  return {
    what: "cluster",
    name: shortCluster(step.name, around.proxy, around.world),
    text,
    ...cause(key, subsetField(key, subset, around), around),
  };
}

function subsetField(key: string | undefined, subset: string, { world }: StepSurroundings): string {
  const object = key === undefined ? undefined : world.object(key) as AnyConfigObject | undefined;
  if (object?.kind !== "DestinationRule" || subset === "") return "";
  const at = (object.spec.subsets ?? []).findIndex(({ name }) => name === subset);
  return at < 0 ? "spec.subsets" : `spec.subsets[${at}]`;
}

/** `outbound|80|v2|reviews.shop.svc.cluster.local` as `v2 of reviews:80`. */
export function shortCluster(name: string, proxy: ProxyOnWay, world: ExplainWorld): string {
  const target = parseOutboundClusterName(name);
  if (target === undefined) return name;
  const { port, subset } = target;
  const host = shortHost(target.host, { proxy, world });
  return subset ? `${subset} of ${host}:${port}` : `${host}:${port}`;
}

/** A host in the short form that workloads of the proxy's namespace may write. */
function shortHost(host: string, { proxy, world }: Pick<StepSurroundings, "proxy" | "world">): string {
  const suffix = `.svc.${world.resolver.domain}`;
  if (!host.endsWith(suffix)) return host;
  const short = host.slice(0, -suffix.length);
  return short.endsWith(`.${proxy.namespace}`) ? short.slice(0, -proxy.namespace.length - 1) : short;
}

function percent(share: number): string {
  return `${Number((share * 100).toFixed(2))} %`;
}
