/**
 * Reads the patches of a ProxyFilter: each value is decoded against the messages that Envoy knows. One that does not fit is
 * left out with a reason; the others are in force. One that may refuse requests is not left out: a value that every Envoy
 * rejects takes its place, so that nothing is served without the guard.
 *
 * @module
 */
import { RE2JS } from "re2js";
import type { StringMap } from "../config/kinds/common/types.ts";
import type { ApplyTo, ConfigPatch, PatchOperation } from "../config/kinds/proxy_filter/types.ts";
import type { ConfigObject } from "../config/types.ts";
import { findEncoder } from "../pb/codec.ts";
import { type ApiMessage, encodeApi, findApiType, messageFromJson, packedName } from "../pb/envoy_api.ts";
import { beyondLimits } from "../pb/envoy_rules.ts";
import { withSeconds } from "./durations.ts";
import { mayRefuse, mayRefuseAsWritten } from "./guards.ts";
import { PATCHED_MESSAGE } from "./messages.ts";
import type { CompiledPatch, PatchTarget } from "./types.ts";
import { unusableValue, unusableWords } from "./unusable.ts";

// Messages that patches write as a struct with the name of their type (`TypedStruct`): Envoy makes the message of them,
// and refuses the resource where it cannot.

const TYPED_STRUCTS: ReadonlySet<string> = new Set(["udpa.type.v1.TypedStruct", "xds.type.v3.TypedStruct"]);

type StructJson = Record<string, unknown>;

/**
 * JSON of a message in which each struct that Envoy could not read as its type is that message itself, so that the reader
 * of the message says what is wrong with it. A type that this release does not know is left to the proxy.
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

/** Envoy takes durations in such structs in seconds alone. */
function isReadable(name: string, value: object): boolean {
  if (JSON.stringify(withSeconds(name, value)) !== JSON.stringify(value)) return false;
  try {
    messageFromJson(name, value);
    return true;
  } catch {
    return false;
  }
}

/** A patch that is not in force, or not as it is written. */
export interface PatchFinding {
  /** Position in `spec.configPatches`. */
  readonly index: number;
  /**
   * `refused`: the patch is not in force; `left out`: only the fields that Envoy does not know are not; `beyond limits`:
   * Envoy reads it and rejects it.
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
 * Whether a patch is to be applied: one that is beyond Envoy's limits is left out. One that may refuse requests is not:
 * proxies then reject the resource, and keep what they have or let nothing in.
 */
function isWithinLimits(patch: CompiledPatch, problem: ReportPatchFinding): boolean {
  const { applyTo, operation, value, unusable } = patch;
  if (operation === "REMOVE" || unusable !== undefined) return true;
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

/** A part that is added needs a name. */
function isNameMissing(applyTo: ApplyTo, operation: PatchOperation, { name }: ApiMessage): boolean {
  return NAMED.has(applyTo as PatchTarget) && operation === "ADD" && !name;
}

/** A part that is there keeps its own name. */
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
    `name: ${JSON.stringify(name)}, expected none: the resource that is merged into keeps its name`,
  );
}

/** The targets with an order, into which something can be inserted. */
const ORDERED: ReadonlySet<PatchTarget> = new Set(["LISTENER_FILTER", "NETWORK_FILTER", "HTTP_FILTER", "HTTP_ROUTE"]);

function operationOn(
  applyTo: PatchTarget,
  operation: Exclude<PatchOperation, "INVALID">,
): Exclude<PatchOperation, "INVALID"> {
  return operation.startsWith("INSERT_") && !ORDERED.has(applyTo) ? "ADD" : operation;
}

/** What happens where a patch that may refuse requests cannot be used. */
const KEPT_CLOSED = "it may refuse requests, so proxies keep what they have where it matches, or let nothing in";

/** The value of a patch, or what takes its place. */
type ReadValue = Pick<CompiledPatch, "value" | "unusable">;

/** @returns undefined: the patch is left out */
function readValue(
  config: ConfigPatch,
  id: Pick<CompiledPatch, "filter" | "index" | "operation">,
  problem: ReportPatchFinding,
): ReadValue | undefined {
  const { applyTo, patch } = config;
  const { operation } = id;
  // The value of a removal says nothing.
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
  if (isNameMissing(applyTo, operation, message)) return refuse("name is missing, expected one for what is added");
  reportOtherName(config, operation, message, problem);
  return { value: message };
}

interface ReadMessage {
  /** Absent: no Envoy can read it. */
  readonly message?: ApiMessage;
  /** Why not. */
  readonly error?: string;
  /** The fields and names that this version does not know, and that the message goes without. */
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
