/**
 * Reads the patches of a ProxyFilter. Each value is decoded against Envoy's messages. An unreadable patch is omitted
 * with a reason, and the others are in force. But a patch that may refuse requests is not omitted: a value that every
 * Envoy rejects takes its place, so nothing is served without the guard.
 *
 * @module
 */
import { RE2JS } from "re2js";
import type { StringMap } from "../config/schema/json.ts";
import type { ApplyTo, ConfigPatch, PatchOperation } from "../config/kinds/proxy_filter/schema.ts";
import type { ConfigObject } from "../config/types.ts";
import { findEncoder } from "../pb/codec.ts";
import { type ApiMessage, encodeApi, findApiType, messageFromJson, packedName } from "../pb/envoy_api.ts";
import { beyondLimits } from "../pb/envoy_rules.ts";
import { withSeconds } from "./durations.ts";
import { mayRefuse, mayRefuseAsWritten } from "./guards.ts";
import { PATCHED_MESSAGE } from "./messages.ts";
import type { CompiledPatch, PatchTarget } from "./types.ts";
import { unusableValue, unusableWords } from "./unusable.ts";

// Messages that patches write as a struct with a type name (`TypedStruct`). Envoy converts the struct to the message,
// and refuses the resource if the conversion fails.

const TYPED_STRUCTS: ReadonlySet<string> = new Set(["udpa.type.v1.TypedStruct", "xds.type.v3.TypedStruct"]);

type StructJson = Record<string, unknown>;

/**
 * JSON of a message, with every struct that Envoy could not convert replaced by the inner message. The reader of the
 * message then reports the problem. An unknown type is left to the proxy.
 */
function withReadableStructs(json: unknown): unknown {
  if (Array.isArray(json)) return json.map(withReadableStructs);
  if (typeof json !== "object" || json === null) return json;
  const { "@type": type, type_url, typeUrl, value } = json as StructJson;
  const inner = type_url ?? typeUrl;
  const isStruct = typeof type === "string" && TYPED_STRUCTS.has(packedName({ type_url: type }));
  if (isStruct && typeof inner === "string" && typeof value === "object" && value !== null) {
    const name = packedName({ type_url: inner });
    if (findApiType(name) === undefined || isReadable(name, value)) return json;
    return { "@type": inner, ...withReadableStructs(value) as StructJson };
  }
  return Object.fromEntries(Object.entries(json).map(([key, one]) => [key, withReadableStructs(one)]));
}

/** In these structs, Envoy accepts durations only in seconds. */
function isReadable(name: string, value: object): boolean {
  if (JSON.stringify(withSeconds(name, value)) !== JSON.stringify(value)) return false;
  try {
    messageFromJson(name, value);
    return true;
  } catch {
    return false;
  }
}

/** A patch that is not in force, or not as written. */
export interface PatchFinding {
  /** Position in `spec.configPatches`. */
  readonly index: number;
  /**
   * `refused`: the patch is not in force. `left out`: only the fields unknown to Envoy are not in force. `beyond
   * limits`: Envoy can read the patch, but rejects the values.
   */
  readonly what: "refused" | "left out" | "beyond limits";
  /** Where and why, as text for users. */
  readonly text: string;
}

/** The applicable patches of an object, in order. */
export interface CompiledFilter {
  readonly patches: readonly CompiledPatch[];
  readonly problems: readonly PatchFinding[];
}

const compiled = new WeakMap<ConfigObject<"ProxyFilter">, CompiledFilter>();

/** Compiles an object, once per version. */
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
    if (applyTo === "INVALID" || patch === undefined || patch.operation === "INVALID") continue; // Reported by validation.
    const problem: ReportPatchFinding = (what, text) => problems.push({ index, what, text });
    const operation = operationOn(applyTo as PatchTarget, patch.operation);
    const read = readValue(config, { filter: key, index, operation }, problem);
    if (read === undefined || applyTo === "BOOTSTRAP") continue;
    const { value } = read;
    const patched: CompiledPatch = {
      filter: key,
      index,
      applyTo,
      operation,
      context: match?.context ?? "ANY",
      ...read,
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
 * Whether to apply a patch. A patch beyond Envoy's limits is omitted, unless the patch may refuse requests: proxies
 * then reject the resource, and keep the old version or admit nothing.
 */
function isWithinLimits(patch: CompiledPatch, problem: ReportPatchFinding): boolean {
  const { applyTo, operation, value, unusable } = patch;
  if (operation === "REMOVE" || unusable !== undefined) return true;
  const keepsName = applyTo === "VIRTUAL_HOST" && operation === "REPLACE" && !value["name"];
  const whole = keepsName ? { ...value, name: "kept" } : value;
  const beyond = beyondLimits(PATCHED_MESSAGE[applyTo], whole, operation === "MERGE");
  if (beyond.length === 0) return true;
  const guards = mayRefuse(patch);
  const then = guards ? "proxies reject the patched resource" : "the patch is left out";
  problem("beyond limits", `${beyond.join("; ")}; ${then}`);
  return guards;
}

/** Whether the builders' encoders, which are faster, write each field of a value. */
function isWrittenByBuilders(name: string, value: ApiMessage): boolean {
  const ours = findEncoder(name)?.(value).finish();
  const whole = encodeApi(name, value);
  return ours?.length === whole.length && ours.every((byte, i) => byte === whole[i]);
}

/**
 * Annotations with referenced services, `HOST` or `NAMESPACE/HOST`, separated by commas: this project's name and
 * Istio's.
 */
const REFERENCES = ["proxyfilter.mesh.io/referenced-services", "envoyfilter.mesh.io/referenced-services"];

function referencedServices(annotations: StringMap): readonly string[] {
  return REFERENCES.flatMap((name) => (annotations[name] ?? "").split(","))
    .map((reference) => reference.slice(reference.indexOf("/") + 1).trim().toLowerCase())
    .filter((host) => host !== "");
}

type ReportPatchFinding = (what: PatchFinding["what"], text: string) => void;

/** Targets that other messages refer to by name. */
const NAMED: ReadonlySet<PatchTarget> = new Set([
  "LISTENER",
  "ROUTE_CONFIGURATION",
  "VIRTUAL_HOST",
  "CLUSTER",
  "EXTENSION_CONFIG",
]);

/** Whether an added part lacks its required name. */
function isNameMissing(applyTo: ApplyTo, operation: PatchOperation, { name }: ApiMessage): boolean {
  return NAMED.has(applyTo as PatchTarget) && operation === "ADD" && !name;
}

/** An existing part keeps its own name. */
function reportOtherName(
  { applyTo, match }: ConfigPatch,
  operation: PatchOperation,
  { name }: ApiMessage,
  problem: ReportPatchFinding,
): void {
  if (!NAMED.has(applyTo as PatchTarget) || operation !== "MERGE" || !name) return;
  const { listener, routeConfiguration, cluster } = match ?? {};
  const sought = applyTo === "VIRTUAL_HOST" ? routeConfiguration?.vhost : listener ?? routeConfiguration ?? cluster;
  if (name === sought?.name) return;
  problem(
    "left out",
    `name: ${JSON.stringify(name)}, expected none: a merge keeps the name of the resource`,
  );
}

/** The targets with an order, for insertions. */
const ORDERED: ReadonlySet<PatchTarget> = new Set(["LISTENER_FILTER", "NETWORK_FILTER", "HTTP_FILTER", "HTTP_ROUTE"]);

function operationOn(
  applyTo: PatchTarget,
  operation: Exclude<PatchOperation, "INVALID">,
): Exclude<PatchOperation, "INVALID"> {
  return operation.startsWith("INSERT_") && !ORDERED.has(applyTo) ? "ADD" : operation;
}

/** The consequence when a patch that may refuse requests cannot be used. */
const KEPT_CLOSED =
  "the patch may refuse requests, so proxies keep the last version of matching resources, or admit nothing";

/** The value of a patch, or its substitute. */
type ReadValue = Pick<CompiledPatch, "value" | "unusable">;

/** @returns Undefined for an omitted patch. */
function readValue(
  config: ConfigPatch,
  id: Pick<CompiledPatch, "filter" | "index" | "operation">,
  problem: ReportPatchFinding,
): ReadValue | undefined {
  const { applyTo, patch } = config;
  const { operation } = id;
  // The value of a removal has no meaning.
  if (operation === "REMOVE") return { value: {} };
  const { value: written } = patch!;
  if (written === undefined || applyTo === "INVALID") return undefined;
  const name = PATCHED_MESSAGE[applyTo];
  const json = withSeconds(name, withReadableStructs(written));
  const isGuard = applyTo !== "BOOTSTRAP" && mayRefuseAsWritten(applyTo, operation, json);
  const refuse = (text: string): ReadValue | undefined => {
    const value = isGuard ? unusableValue({ ...id, applyTo }, written) : undefined;
    problem("refused", value ? `${text}; ${KEPT_CLOSED}` : text);
    return value && { value, unusable: unusableWords(id) };
  };
  const { message, error, leftOut } = readMessage(name, json);
  if (message === undefined || (isGuard && leftOut !== undefined)) return refuse(error ?? leftOut!);
  if (leftOut !== undefined) problem("left out", leftOut);
  if (isNameMissing(applyTo, operation, message)) return refuse("name is missing, expected a name for an added part");
  reportOtherName(config, operation, message, problem);
  return { value: message };
}

interface ReadMessage {
  /** Absent when no Envoy can read the value. */
  readonly message?: ApiMessage;
  /** Why Envoy cannot read the value. */
  readonly error?: string;
  /** Omitted fields and names that this version does not know. */
  readonly leftOut?: string;
}

function readMessage(name: string, value: unknown): ReadMessage {
  try {
    return { message: messageFromJson(name, value) };
  } catch (error) {
    try {
      return { message: messageFromJson(name, value, "left out"), leftOut: (error as Error).message };
    } catch (worse) {
      return { error: (worse as Error).message };
    }
  }
}
