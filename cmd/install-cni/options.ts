/**
 * Flags and variables of `install-cni` to one set of options: a flag that is given wins over its variable.
 *
 * @module
 */
import { type Address, introspectionAddress } from "../../lib/cli/address.ts";
import { UsageError } from "../../lib/cli/command.ts";
import { isConfigName } from "../../lib/cni/config/network.ts";
import { type Level, levels } from "../../lib/kernel/log/level.ts";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import type { InstallFlagValues } from "./flags.ts";

/** Everything flags and paired variables say about an installation. */
export interface InstallOptions {
  readonly introspection: Address;
  readonly ambientEnabled: boolean;
  readonly chainedPlugin: boolean;
  readonly agentRunDir: string;
  readonly confName: string | undefined;
  readonly networkConfig: string | undefined;
  readonly networkConfigFile: string | undefined;
  readonly pluginLogLevel: string;
  readonly mountedNetDir: string;
  readonly ztunnelSocket: string;
  readonly monitoringPort: number;
  readonly orchCaFile: string | undefined;
  readonly orchconfigMode: number;
  readonly skipTlsVerify: boolean;
  readonly repair: RepairOptions;
}

/** Options of the repair of broken pods: the pods that it looks for, and its actions. */
export interface RepairOptions {
  readonly enabled: boolean;
  readonly repairPods: boolean;
  readonly deletePods: boolean;
  readonly labelPods: boolean;
  readonly labelKey: string;
  readonly labelValue: string;
  readonly nodeName: string | undefined;
  readonly sidecarAnnotation: string;
  readonly fieldSelectors: string;
  readonly labelSelectors: string;
  readonly initContainerName: string;
  readonly initContainerExitCode: number;
  readonly terminationMessage: string | undefined;
}

type CniSettings = SettingsOf<"install-cni">;

/**
 * Options of flags and variables.
 *
 * @param given Flags that the command line gave; for the others their variables hold.
 * @throws {UsageError} naming every flag at fault, one per line.
 */
export function installOptions(
  flags: InstallFlagValues,
  given: ReadonlySet<string>,
  settings: CniSettings,
): InstallOptions {
  const pick = <K extends keyof InstallFlagValues>(name: K, variable: InstallFlagValues[K]): InstallFlagValues[K] =>
    given.has(name) ? flags[name] : variable;
  const options: InstallOptions = {
    introspection: introspectionAddress(flags),
    ambientEnabled: pick("ambient-enabled", settings.AMBIENT_ENABLED),
    chainedPlugin: pick("chained-cni-plugin", settings.CHAINED_CNI_PLUGIN),
    agentRunDir: pick("cni-agent-run-dir", settings.CNI_AGENT_RUN_DIR),
    confName: pick("cni-conf-name", settings.CNI_CONF_NAME) || undefined,
    networkConfig: pick("cni-network-config", settings.CNI_NETWORK_CONFIG) || undefined,
    networkConfigFile: pick("cni-network-config-file", settings.CNI_NETWORK_CONFIG_FILE) || undefined,
    pluginLogLevel: pick("log-level", settings.LOG_LEVEL),
    mountedNetDir: pick("mounted-cni-net-dir", settings.MOUNTED_CNI_NET_DIR),
    ztunnelSocket: pick("ztunnel-uds-address", settings.ZTUNNEL_UDS_ADDRESS),
    monitoringPort: pick("monitoring-port", settings.MONITORING_PORT),
    orchCaFile: pick("orch-ca-file", settings.ORCH_CA_FILE) || undefined,
    orchconfigMode: pick("orchconfig-mode", settings.ORCHCONFIG_MODE),
    skipTlsVerify: pick("skip-tls-verify", settings.SKIP_TLS_VERIFY),
    repair: {
      enabled: pick("repair-enabled", settings.REPAIR_ENABLED),
      repairPods: settings.REPAIR_REPAIR_PODS,
      deletePods: pick("repair-delete-pods", settings.REPAIR_DELETE_PODS),
      labelPods: pick("repair-label-pods", settings.REPAIR_LABEL_PODS),
      labelKey: pick("repair-broken-pod-label-key", settings.REPAIR_BROKEN_POD_LABEL_KEY),
      labelValue: pick("repair-broken-pod-label-value", settings.REPAIR_BROKEN_POD_LABEL_VALUE),
      nodeName: pick("repair-node-name", settings.REPAIR_NODE_NAME) || ownNode(settings),
      sidecarAnnotation: pick("repair-sidecar-annotation", settings.REPAIR_SIDECAR_ANNOTATION),
      fieldSelectors: pick("repair-field-selectors", settings.REPAIR_FIELD_SELECTORS),
      labelSelectors: pick("repair-label-selectors", settings.REPAIR_LABEL_SELECTORS),
      initContainerName: pick("repair-init-container-name", settings.REPAIR_INIT_CONTAINER_NAME),
      initContainerExitCode: pick("repair-init-container-exit-code", settings.REPAIR_INIT_CONTAINER_EXIT_CODE),
      terminationMessage: pick(
        "repair-init-container-termination-message",
        settings.REPAIR_INIT_CONTAINER_TERMINATION_MESSAGE,
      ) || undefined,
    },
  };
  const problems = [...rangeProblems(options), ...textProblems(options)];
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  return options;
}

/** Pods can be redirected on their own node alone, so those of others are not watched for that. */
function ownNode(settings: CniSettings): string | undefined {
  return settings.REPAIR_REPAIR_PODS ? settings.NODE_NAME || undefined : undefined;
}

function rangeProblems(options: InstallOptions): string[] {
  const rows = [
    ["monitoring-port", options.monitoringPort, 65535, "a port from 0 to 65535"],
    ["orchconfig-mode", options.orchconfigMode, 0o7777, "a file mode from 0 to 07777"],
    ["repair-init-container-exit-code", options.repair.initContainerExitCode, 255, "an exit code from 0 to 255"],
  ] as const;
  return rows
    .filter(([, value, max]) => value < 0 || value > max)
    .map(([name, value, , expected]) => `flag --${name}: got ${value}, expected ${expected}`);
}

/** A label's name, or its part behind the domain, and a label's value. */
const LABEL_NAME = /^[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;
const LABEL_DOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function textProblems(options: InstallOptions): string[] {
  const { confName, pluginLogLevel, agentRunDir, repair } = options;
  const isPlainName = confName === undefined || !confName.includes("/") && isConfigName(confName);
  const rows: [boolean, string, string | undefined, string][] = [
    [levels.includes(pluginLogLevel as Level), "log-level", pluginLogLevel, `one of ${levels.join(", ")}`],
    [agentRunDir.startsWith("/"), "cni-agent-run-dir", agentRunDir, "an absolute path, the same here and on the node"],
    [isPlainName, "cni-conf-name", confName, "a name without folder that ends in .conf, .conflist or .json"],
    [isLabelKey(repair.labelKey), "repair-broken-pod-label-key", repair.labelKey, "a label's key: [domain/]name"],
    [
      repair.labelValue === "" || LABEL_NAME.test(repair.labelValue),
      "repair-broken-pod-label-value",
      repair.labelValue,
      "a label's value: at most 63 letters, digits, -, _ and ., the first and the last a letter or digit",
    ],
  ];
  return rows.filter(([good]) => !good).map(([, name, value, expected]) =>
    `flag --${name}: got ${JSON.stringify(value)}, expected ${expected}`
  );
}

function isLabelKey(key: string): boolean {
  const [name = "", domain, ...more] = key.split("/").reverse();
  return LABEL_NAME.test(name) && (domain === undefined || domain.length <= 253 && LABEL_DOMAIN.test(domain)) &&
    more.length === 0;
}
