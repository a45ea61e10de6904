/**
 * The check before an installation or an upgrade: what would fail, be missing, or break pods.
 *
 * @module
 */
import type { ClusterFacts, ReadKind, RunningProxy } from "./facts.ts";
import { injectionConflicts } from "./injection.ts";
import { proxyPorts } from "./pod_ports.ts";
import { fine, listedNames, type PrecheckResult } from "./result.ts";
import { serviceProtocols, sharedPorts } from "./service_ports.ts";

/** All results, in the order of `PRECHECKS`. */
export function precheck(facts: ClusterFacts): PrecheckResult[] {
  return [
    orchestratorVersion(facts),
    rights(facts),
    ...definitions(facts),
    ...injectionConflicts(facts),
    ...proxyPorts(facts),
    ...serviceProtocols(facts),
    ...sharedPorts(facts),
    gatewayApi(facts),
    ...facts.proxies === undefined ? [] : [proxyVersions(facts.proxies, facts.ownVersion)],
    ...facts.nodes === undefined ? [] : [nodes(facts.nodes)],
  ];
}

/** The definitions of the kinds have rules that older API servers refuse. */
const OLDEST_MINOR = 25;

/** From here on the API starts a proxy before the other containers of its pod. */
const NATIVE_SIDECARS_MINOR = 29;

function orchestratorVersion({ version: { major, minor, gitVersion } }: ClusterFacts): PrecheckResult {
  const check = "orchestrator version";
  const number = Number.parseInt(minor, 10);
  if (major !== "1" || Number.isNaN(number) || number < OLDEST_MINOR) {
    return {
      ...{ check, state: "error", fix: `Upgrade the cluster to 1.${NATIVE_SIDECARS_MINOR} or later.` },
      message: `got ${gitVersion}, expected 1.${OLDEST_MINOR} or later: older API servers refuse the definitions`,
    };
  }
  if (number < NATIVE_SIDECARS_MINOR) {
    return {
      ...{ check, state: "warning", fix: "Upgrade the cluster, or leave ENABLE_NATIVE_SIDECARS off." },
      message: `${gitVersion} has no native sidecars, which begin with 1.${NATIVE_SIDECARS_MINOR}`,
    };
  }
  return fine(check, gitVersion);
}

function rights({ rights }: ClusterFacts): PrecheckResult {
  const check = "rights";
  const missing = rights.filter(({ allowed }) => !allowed).map(({ verb, group, resource, namespace }) =>
    `${verb} ${resource}${group === "" ? "" : `.${group}`}${namespace === "" ? "" : ` in ${namespace}`}`
  );
  if (missing.length === 0) return fine(check, `all ${rights.length} rights to install are there`);
  return {
    ...{ check, state: "error", fix: "Install as a user with the role cluster-admin, or grant these rights." },
    message: `this user may not ${listedNames(missing)}`,
  };
}

/** Kinds without a definition, without a version that is read, and with a definition that drops fields. */
function definitions({ definitions, kinds }: ClusterFacts): PrecheckResult[] {
  const check = "definitions";
  const byName = new Map(definitions.map((one) => [one.metadata.name, one]));
  const results: PrecheckResult[] = [];
  const absent = kinds.filter((kind) => !kind.definitions.some((name) => byName.has(name)));
  const apply = "Apply manifests/definitions.yaml of this version.";
  if (absent.length > 0) {
    const names = absent.map(({ definitions: [name = ""] }) => name);
    const message = `${listedNames(names)} ${names.length === 1 ? "is" : "are"} not defined: objects of these kinds ` +
      "cannot be applied";
    results.push({ check, state: "warning", message, fix: apply });
  }
  for (const kind of kinds) {
    for (const name of kind.definitions) {
      const found = byName.get(name);
      if (found !== undefined) results.push(...definition(name, found, kind, apply));
    }
  }
  return results.length > 0 ? results : [fine(check, `${kinds.length} kinds are defined with all their fields`)];
}

type DefinedKind = ClusterFacts["definitions"][number];

function* definition(
  name: string,
  { spec: { versions } }: DefinedKind,
  { versions: read, fields }: ReadKind,
  apply: string,
): Iterable<PrecheckResult> {
  const check = "definitions";
  const served = versions.filter((one) => one.served);
  const used = read.map((version) => served.find((one) => one.name === version)).find((one) => one !== undefined);
  if (used === undefined) {
    const names = served.map((one) => one.name).join(", ") || "no version";
    const message = `${name} serves ${names}, expected one of ${read.join(", ")}: its objects are not read`;
    yield { check, state: "error", message, fix: apply };
    return;
  }
  const spec = used.schema?.openAPIV3Schema?.properties?.spec;
  if (spec === undefined || spec["x-kubernetes-preserve-unknown-fields"]) return;
  const dropped = fields.filter((field) => !Object.hasOwn(spec.properties, field));
  if (dropped.length > 0) {
    const message = `${name} lacks spec.${dropped.join(", spec.")}: the API drops these fields of objects`;
    yield { check, state: "warning", message, fix: apply };
  }
}

const GATEWAY_API = "gateways.gateway.networking.k8s.io";
const BUNDLE = "gateway.networking.k8s.io/bundle-version";
const CHANNEL = "gateway.networking.k8s.io/channel";

function gatewayApi({ definitions }: ClusterFacts): PrecheckResult {
  const check = "Gateway API";
  const found = definitions.find(({ metadata }) => metadata.name === GATEWAY_API);
  if (found === undefined) {
    return {
      ...{ check, state: "warning", fix: "Apply the standard definitions of the Gateway API." },
      message: "the Gateway API is not defined: its routes, managed Gateways and waypoints need it",
    };
  }
  const { [BUNDLE]: version = "", [CHANNEL]: channel = "" } = found.metadata.annotations;
  const served = found.spec.versions.filter((one) => one.served).map(({ name }) => name);
  if (!served.includes("v1")) {
    return {
      ...{ check, state: "error", fix: "Apply the definitions of the Gateway API v1.0 or later." },
      message: `the Gateway API ${version || "without a version"} serves ${served.join(", ")}, expected v1`,
    };
  }
  return fine(check, `${version || "a version without a name"}${channel === "" ? "" : `, channel ${channel}`}`);
}

/** Minor versions between a proxy and a server that work together. */
const SKEW = 1;

function proxyVersions(proxies: readonly RunningProxy[], own: string): PrecheckResult {
  const check = "proxies";
  const mine = minorOf(own);
  const far = proxies.filter(({ version }) => {
    const theirs = minorOf(version);
    return mine !== undefined && theirs !== undefined && (theirs.major !== mine.major ||
      Math.abs(theirs.minor - mine.minor) > SKEW);
  });
  if (far.length > 0) {
    return {
      ...{ check, state: "warning", fix: "Restart these pods with the proxies of a version between." },
      message: `${
        listedNames(far.map(({ name, version }) => `${name} (${version})`))
      }: more than ${SKEW} minor version ` +
        `from ${own}, which is not tested`,
    };
  }
  return fine(check, `${proxies.length} connected proxies fit ${own}`);
}

function minorOf(version: string): { readonly major: number; readonly minor: number } | undefined {
  const [, major, minor] = /^v?(\d{1,6})\.(\d{1,6})/.exec(version) ?? [];
  return major === undefined || minor === undefined ? undefined : { major: Number(major), minor: Number(minor) };
}

/** Architectures of the images. */
const ARCHITECTURES: ReadonlySet<string> = new Set(["amd64", "arm64"]);

function nodes(all: NonNullable<ClusterFacts["nodes"]>): PrecheckResult {
  const check = "nodes";
  const unfit = all.flatMap(({ metadata: { name }, status: { nodeInfo } }) => {
    const { operatingSystem, architecture, kernelVersion } = nodeInfo;
    if (operatingSystem !== "linux") return [`${name} runs ${operatingSystem || "an unknown system"}`];
    if (!ARCHITECTURES.has(architecture)) return [`${name} is ${architecture}`];
    const kernel = minorOf(kernelVersion);
    const isOld = kernel !== undefined && (kernel.major < 4 || kernel.major === 4 && kernel.minor < 11);
    return isOld ? [`${name} has Linux ${kernelVersion}`] : [];
  });
  if (unfit.length > 0) {
    return {
      ...{ check, state: "warning", fix: "Keep the node's plugin off these nodes by a node selector." },
      message: `${listedNames(unfit)}, expected Linux 4.11 or later on amd64 or arm64 for the node's plugin`,
    };
  }
  return fine(check, `all ${all.length} can run the node's plugin`);
}
