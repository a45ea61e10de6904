/**
 * Bootstraps of the cases in `tests/testdata/agent/bootstrap/input`.
 *
 * Permissions: read.
 *
 * @module
 */
import { load } from "js-yaml";
import { type Bootstrap, bootstrap, type BootstrapInput } from "../../../lib/agent/bootstrap/bootstrap.ts";
import type { AgentRole } from "../../../lib/agent/node/agent_node.ts";
import { type WorkloadInput, workloadOf } from "../../../lib/agent/node/workload.ts";
import { defaultProxySettings, mergeProxySettings } from "../../../lib/config/mesh/merge.ts";
import type { ProxySettings } from "../../../lib/config/mesh/types.ts";
import { parseProxySettings } from "../../../lib/config/mesh/parse.ts";
import type { Settings } from "../../../lib/kernel/settings/catalogue.ts";
import { defaultSettings } from "../../../lib/kernel/settings/read.ts";

/** A case in written form. */
export interface BootstrapCase {
  readonly role?: AgentRole;
  readonly settings?: Partial<WorkloadInput["settings"] & Pick<Settings, "METRICS_LOCALHOST_ACCESS_ONLY">>;
  readonly variables?: Readonly<Record<string, string>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly addresses?: readonly string[];
  readonly proxy?: unknown;
  readonly serviceCluster?: string;
  readonly outlierLogPath?: string;
  readonly dualStack?: boolean;
  readonly delta?: boolean;
  readonly logAsJson?: boolean;
  readonly files?: string;
  readonly credentials?: string;
  readonly cloud?: NonNullable<WorkloadInput["cloud"]>;
  readonly stsPort?: number;
}

/** Folder of the cases, with a slash at the end. */
export const folder = new URL("../../testdata/agent/bootstrap/", import.meta.url);

/** Reads a case by its name. */
export function readCase(name: string): BootstrapCase {
  return load(Deno.readTextFileSync(new URL(`input/${name}.yaml`, folder))) as BootstrapCase;
}

function settingsOf(written: unknown): ProxySettings {
  const base = defaultProxySettings({ systemNamespace: "mesh-system" });
  if (written === undefined) return mergeProxySettings(base, {});
  const { value, findings } = parseProxySettings(JSON.stringify(written), base);
  if (value === undefined || findings.length > 0) throw new Error(findings.map(({ message }) => message).join("\n"));
  return value;
}

/** Makes the bootstrap of a case. */
export function bootstrapOfCase(given: BootstrapCase): Bootstrap {
  return bootstrap(inputOfCase(given));
}

/** The input of a case's bootstrap. */
export function inputOfCase(given: BootstrapCase): BootstrapInput {
  const settings = defaultSettings("pilot-agent", given.settings ?? {});
  const proxy = settingsOf(given.proxy);
  const annotations = given.annotations ?? {};
  const workload = workloadOf({
    role: given.role ?? "sidecar",
    settings,
    variables: given.variables ?? {},
    labels: given.labels ?? {},
    annotations,
    machine: { hostname: "host", addresses: given.addresses ?? [] },
    proxy,
    domain: "",
    serviceCluster: given.serviceCluster ?? "mesh-proxy",
    outlierLogPath: given.outlierLogPath,
    stsPort: given.stsPort ?? 0,
    version: "0.1.0",
    ...(given.cloud === undefined ? {} : { cloud: given.cloud }),
  });
  return {
    node: workload.node,
    proxy,
    annotations,
    addresses: workload.addresses,
    dualStack: given.dualStack ?? false,
    delta: given.delta ?? true,
    readinessPort: settings.PROXY_STATUS_PORT,
    metricsPort: settings.PROXY_METRICS_PORT,
    metricsLocalOnly: settings.METRICS_LOCALHOST_ACCESS_ONLY,
    countsConnections: settings.EXIT_ON_ZERO_ACTIVE_CONNECTIONS,
    outlierLogPath: given.outlierLogPath,
    logAsJson: given.logAsJson ?? false,
    sockets: {
      xds: `${proxy.configPath}/XDS`,
      sds: "./var/run/secrets/workload-spiffe-uds/socket",
      data: "/var/lib/mesh/data",
      ...(given.files === undefined ? {} : { files: given.files }),
      ...(given.credentials === undefined ? {} : { credentials: given.credentials }),
    },
  };
}
