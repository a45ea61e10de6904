/**
 * Reads the patches of a ProxyFilter: each value is decoded against the messages that Envoy knows. One that does not fit is
 * left out with a reason; the others are in force.
 *
 * @module
 */
import { RE2JS } from "re2js";
import type { ApplyTo, ConfigPatch, PatchOperation } from "../config/kinds/proxy_filter/types.ts";
import type { StringMap } from "../config/kinds/common/types.ts";
import type { ConfigObject } from "../config/types.ts";
import { findEncoder } from "../pb/codec.ts";
import { type ApiMessage, encodeApi, messageFromJson } from "../pb/envoy_api.ts";
import { beyondLimits } from "../pb/envoy_rules.ts";
import { withSeconds } from "./durations.ts";
import { mayRefuse } from "./guards.ts";
import { withReadableStructs } from "./typed_structs.ts";
import type { CompiledPatch, PatchTarget } from "./types.ts";

/** A patch that is not in force, or not as it is written. */
export interface PatchFinding {
  /** Position in `spec.configPatches`. */
  readonly index: number;
  /**
   * `refused`: the patch is left out; `left out`: only the fields that Envoy does not know; `beyond limits`: Envoy reads it
   * and rejects it.
   */
  readonly what: "refused" | "left out" | "beyond limits";
  /** Where and why, for people. */
  readonly text: string;
}

/** The patches of one object that may be applied, in their order. */
export interface CompiledFilter {
  readonly patches: readonly CompiledPatch[];
  readonly problems: readonly PatchFinding[];
}

/** The messages that patches change or add. */
export const PATCHED_MESSAGE: { readonly [A in Exclude<ApplyTo, "INVALID">]: string } = {
  LISTENER: "envoy.config.listener.v3.Listener",
  LISTENER_FILTER: "envoy.config.listener.v3.ListenerFilter",
  FILTER_CHAIN: "envoy.config.listener.v3.FilterChain",
  NETWORK_FILTER: "envoy.config.listener.v3.Filter",
  HTTP_FILTER: "envoy.extensions.filters.network.http_connection_manager.v3.HttpFilter",
  ROUTE_CONFIGURATION: "envoy.config.route.v3.RouteConfiguration",
  VIRTUAL_HOST: "envoy.config.route.v3.VirtualHost",
  HTTP_ROUTE: "envoy.config.route.v3.Route",
  CLUSTER: "envoy.config.cluster.v3.Cluster",
  EXTENSION_CONFIG: "envoy.config.core.v3.TypedExtensionConfig",
  BOOTSTRAP: "envoy.config.bootstrap.v3.Bootstrap",
};

const compiled = new WeakMap<ConfigObject<"ProxyFilter">, CompiledFilter>();

/** Compiles an object; once for each version of it. */
export function compileFilter(object: ConfigObject<"ProxyFilter">): CompiledFilter {
  let known = compiled.get(object);
  if (known === undefined) compiled.set(object, known = compileNow(object));
  return known;
}

function compileNow({ key, meta, spec }: ConfigObject<"ProxyFilter">): CompiledFilter {
  const services = referencedServices(meta.annotations);
  const patches: CompiledPatch[] = [];
  const problems: PatchFinding[] = [];
  for (const [index, config] of (spec.configPatches ?? []).entries()) {
    const { applyTo, match, patch } = config;
    if (applyTo === "INVALID" || patch === undefined || patch.operation === "INVALID") continue; // validation says so
    const problem: ReportPatchFinding = (what, text) => problems.push({ index, what, text });
    const value = readValue(config, problem);
    if (value === undefined || applyTo === "BOOTSTRAP") continue;
    const operation = operationOn(applyTo, patch.operation);
    if (!hasRightName(config, operation, value, problem)) continue;
    const patched: CompiledPatch = {
      filter: key,
      index,
      applyTo,
      operation,
      context: match?.context ?? "ANY",
      value,
      needsApi: !isWrittenByBuilders(PATCHED_MESSAGE[applyTo], value),
      services,
      ...(match?.listener ? { listener: match.listener } : {}),
      ...(match?.routeConfiguration ? { routeConfiguration: match.routeConfiguration } : {}),
      ...(match?.cluster ? { cluster: match.cluster } : {}),
      ...(match?.proxy?.proxyVersion ? { version: RE2JS.compile(match.proxy.proxyVersion) } : {}),
      ...(match?.proxy?.metadata ? { metadata: match.proxy.metadata } : {}),
    };
    if (isWithinLimits(patched, problem)) patches.push(patched);
  }
  return { patches, problems };
}

/**
 * Whether a patch is to be applied: one that is beyond Envoy's limits is left out. One that may refuse requests is not:
 * proxies then reject the resource, and keep what they have or let nothing in.
 */
function isWithinLimits(patch: CompiledPatch, problem: ReportPatchFinding): boolean {
  const { applyTo, operation, value } = patch;
  if (operation === "REMOVE") return true;
  const keepsName = applyTo === "VIRTUAL_HOST" && operation === "REPLACE" && !value["name"];
  const whole = keepsName ? { ...value, name: "kept" } : value;
  const beyond = beyondLimits(PATCHED_MESSAGE[applyTo], whole, operation === "MERGE");
  if (beyond.length === 0) return true;
  const guards = mayRefuse(patch);
  const then = guards ? "proxies reject what it changes" : "it is left out";
  problem("beyond limits", `${beyond.join("; ")}; ${then}`);
  return guards;
}

/** Whether the encoders of builders, which are faster, write each field of a value. */
function isWrittenByBuilders(name: string, value: ApiMessage): boolean {
  const ours = findEncoder(name)?.(value).finish();
  const whole = encodeApi(name, value);
  return ours?.length === whole.length && ours.every((byte, i) => byte === whole[i]);
}

/** Annotations that name services, `HOST` or `NAMESPACE/HOST`, separated by commas; ours, and the field's. */
const REFERENCES = ["proxyfilter.mesh.io/referenced-services", "envoyfilter.mesh.io/referenced-services"];

function referencedServices(annotations: StringMap): readonly string[] {
  return REFERENCES.flatMap((name) => (annotations[name] ?? "").split(","))
    .map((reference) => reference.slice(reference.indexOf("/") + 1).trim().toLowerCase())
    .filter((host) => host !== "");
}

type ReportPatchFinding = (what: PatchFinding["what"], text: string) => void;

/** Targets that other messages call by name. */
const NAMED: ReadonlySet<PatchTarget> = new Set([
  "LISTENER",
  "ROUTE_CONFIGURATION",
  "VIRTUAL_HOST",
  "CLUSTER",
  "EXTENSION_CONFIG",
]);

/** A part that is added needs a name; one that is there keeps its own. */
function hasRightName(
  { applyTo, match }: ConfigPatch,
  operation: PatchOperation,
  { name }: ApiMessage,
  problem: ReportPatchFinding,
): boolean {
  if (!NAMED.has(applyTo as PatchTarget)) return true;
  if (operation === "ADD" && !name) {
    problem("refused", "name is missing, expected one for what is added");
    return false;
  }
  const { listener, routeConfiguration, cluster } = match ?? {};
  const sought = applyTo === "VIRTUAL_HOST" ? routeConfiguration?.vhost : listener ?? routeConfiguration ?? cluster;
  if (operation === "MERGE" && name && name !== sought?.name) {
    problem(
      "left out",
      `name: ${JSON.stringify(name)}, expected none: the resource that is merged into keeps its name`,
    );
  }
  return true;
}

/** The targets with an order, into which something can be inserted. */
const ORDERED: ReadonlySet<PatchTarget> = new Set(["LISTENER_FILTER", "NETWORK_FILTER", "HTTP_FILTER", "HTTP_ROUTE"]);

function operationOn(
  applyTo: PatchTarget,
  operation: Exclude<PatchOperation, "INVALID">,
): Exclude<PatchOperation, "INVALID"> {
  return operation.startsWith("INSERT_") && !ORDERED.has(applyTo) ? "ADD" : operation;
}

/** @returns undefined: the patch is refused */
function readValue(
  { applyTo, patch }: ConfigPatch,
  problem: ReportPatchFinding,
): ApiMessage | undefined {
  const { operation, value: written } = patch!;
  if (written === undefined) return operation === "REMOVE" ? {} : undefined;
  const name = PATCHED_MESSAGE[applyTo as Exclude<ApplyTo, "INVALID">];
  const value = withSeconds(name, withReadableStructs(written));
  try {
    return messageFromJson(name, value);
  } catch (error) {
    try {
      const message = messageFromJson(name, value, "left out");
      problem("left out", (error as Error).message);
      return message;
    } catch (worse) {
      problem("refused", (worse as Error).message);
      return undefined;
    }
  }
}
