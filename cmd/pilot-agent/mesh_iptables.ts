/**
 * The command `mesh-iptables`: flags and settings to the engine of redirection, and back to an exit code.
 *
 * Permissions: read (/etc/passwd, /etc/group, /etc/resolv.conf), run (iptables and its kin, ip, nsenter), net and sys
 * (networkInterfaces, uid) for the check, env, write (the file of a dry run).
 *
 * @module
 */
import { UsageError } from "../../lib/cli/command.ts";
import { nameServersOf } from "../../lib/iptables/accounts.ts";
import { applyRedirection } from "../../lib/iptables/apply.ts";
import type { RedirectionConfig } from "../../lib/iptables/config.ts";
import { dryRunText } from "../../lib/iptables/dry_run.ts";
import { type Input, InputError, readInputs, type RedirectionInputs } from "../../lib/iptables/input.ts";
import { ApplyError } from "../../lib/iptables/outcome.ts";
import { namespacePath, systemRun } from "../../lib/iptables/run.ts";
import { validateRedirection } from "../../lib/iptables/validate.ts";
import type { Logger } from "../../lib/kernel/log/log.ts";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { iptablesFlags, type IptablesFlagValues } from "./iptables_flags.ts";
import { runAsProxy } from "./iptables_self.ts";

type Settings = SettingsOf<"pilot-agent">;

/** Exit code when the check fails: that by which the node's repair knows a pod that started without rules. */
export const VALIDATION_FAILED = 126;

/** What the command runs with. */
export interface IptablesInvocation {
  readonly flags: IptablesFlagValues;
  /** Flags that were given. */
  readonly given: ReadonlySet<string>;
  readonly settings: Settings;
  readonly log: Logger;
  /** Takes the text of a dry run. */
  readonly out: (text: string) => void;
}

/**
 * Runs the command.
 *
 * @returns The exit code: 0, or {@link VALIDATION_FAILED}.
 * @throws {UsageError} for inputs at fault and rules that cannot be set up: exit code 1.
 */
export async function meshIptables({ flags, given, settings, log, out }: IptablesInvocation): Promise<number> {
  const config = readConfig(redirectionInputs(flags, given, settings), log);
  if (flags["dry-run"]) {
    const text = flags["skip-rule-apply"] ? "" : dryRunText(config);
    out(text);
    if (settings.DRY_RUN_FILE_PATH !== "") writeDryRun(settings.DRY_RUN_FILE_PATH, text);
    return 0;
  }
  if (!flags["skip-rule-apply"]) await apply(config, flags, log);
  if (!flags["run-validation"] || flags["cleanup-only"]) return 0;
  return await validate(config, flags, log);
}

/** The inputs, by the names under which they are given. */
export function redirectionInputs(
  flags: IptablesFlagValues,
  given: ReadonlySet<string>,
  settings: Settings,
): RedirectionInputs {
  const flag = (name: keyof IptablesFlagValues): Input => {
    const variable = iptablesFlags[name].env?.[0];
    const also = variable === undefined ? "" : ` (variable ${variable})`;
    return { name: `flag --${name}${also}`, value: String(flags[name]) };
  };
  // Variables of this name are shared with the injector's; the flag and its own variable win.
  const orSetting = (name: keyof IptablesFlagValues, variable: string, value: string): Input =>
    given.has(name) || value === "" ? flag(name) : { name: variable, value };
  return {
    proxyPort: flag("proxy-port"),
    inboundPort: flag("inbound-capture-port"),
    tunnelPort: flag("inbound-tunnel-port"),
    proxyUid: flag("proxy-uid"),
    proxyGid: flag("proxy-gid"),
    inboundMode: orSetting(
      "mesh-inbound-interception-mode",
      "INBOUND_INTERCEPTION_MODE",
      settings.INBOUND_INTERCEPTION_MODE,
    ),
    tproxyMark: orSetting("mesh-inbound-tproxy-mark", "INBOUND_TPROXY_MARK", settings.INBOUND_TPROXY_MARK),
    tproxyTable: flag("mesh-inbound-tproxy-route-table"),
    inboundPorts: flag("mesh-inbound-ports"),
    inboundPortsExcluded: flag("mesh-local-exclude-ports"),
    outboundPorts: flag("mesh-outbound-ports"),
    outboundPortsExcluded: flag("mesh-local-outbound-ports-exclude"),
    outboundRanges: flag("mesh-service-cidr"),
    outboundRangesExcluded: flag("mesh-service-exclude-cidr"),
    interfacesExcluded: flag("mesh-exclude-interfaces"),
    virtualInterfaces: flag("orch-virt-interfaces"),
    groups: { name: "MESH_OUTBOUND_OWNER_GROUPS", value: settings.MESH_OUTBOUND_OWNER_GROUPS },
    groupsExcluded: { name: "MESH_OUTBOUND_OWNER_GROUPS_EXCLUDE", value: settings.MESH_OUTBOUND_OWNER_GROUPS_EXCLUDE },
    loopback: { name: "MESH_OUTBOUND_IPV4_LOOPBACK_CIDR", value: settings.MESH_OUTBOUND_IPV4_LOOPBACK_CIDR },
    proxyUser: settings.PROXY_USER,
    dnsAddress: { name: "DNS_PROXY_ADDR", value: settings.DNS_PROXY_ADDR },
    captureDns: flags["redirect-dns"],
    captureAllDns: flags["capture-all-dns"],
    dropInvalid: flags["drop-invalid"],
  };
}

function readConfig(inputs: RedirectionInputs, log: Logger): RedirectionConfig {
  try {
    const { config, warnings } = readInputs(inputs, {
      passwd: readOrEmpty("/etc/passwd"),
      group: readOrEmpty("/etc/group"),
      nameServers: nameServersOf(readOrEmpty("/etc/resolv.conf")),
    });
    for (const warning of warnings) log.warn(warning);
    return config;
  } catch (error) {
    if (error instanceof InputError) throw new UsageError(`pilot-agent mesh-iptables: ${error.message}`);
    throw error;
  }
}

function readOrEmpty(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

function writeDryRun(path: string, text: string): void {
  try {
    Deno.writeTextFileSync(path, text);
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    throw new UsageError(
      `DRY_RUN_FILE_PATH: got ${JSON.stringify(path)}, expected a file that can be written: ${cause}`,
    );
  }
}

async function apply(config: RedirectionConfig, flags: IptablesFlagValues, log: Logger): Promise<void> {
  const networkNamespace = flags["network-namespace"] || undefined;
  // Beside a node's other programs, the machine's lock would be waited for in vain: rules of a pod are its own.
  const lockFile = flags["cni-mode"] && networkNamespace !== undefined ? namespacePath(networkNamespace) : undefined;
  const task = {
    config,
    dualStack: flags["dual-stack"],
    reconcile: flags.reconcile,
    force: flags["force-apply"],
    cleanup: flags["cleanup-only"],
  };
  try {
    await applyRedirection(task, systemRun({ networkNamespace, lockFile }), log);
  } catch (error) {
    if (error instanceof ApplyError) throw new UsageError(`pilot-agent mesh-iptables: ${error.message}`);
    throw error;
  }
}

async function validate(config: RedirectionConfig, flags: IptablesFlagValues, log: Logger): Promise<number> {
  const uid = Deno.uid();
  const gid = Deno.gid();
  const networkNamespace = flags["network-namespace"] || undefined;
  const isProxy = (uid !== null && config.proxyUids.includes(uid)) || (gid !== null && config.proxyGids.includes(gid));
  if (networkNamespace !== undefined || !isProxy) {
    return await runAsProxy(config, networkNamespace, log) ? 0 : VALIDATION_FAILED;
  }
  const verdicts = await validateRedirection({
    proxyPort: config.proxyPort,
    inboundPort: config.inboundPort,
    probePort: flags["iptables-probe-port"],
    timeout: flags["probe-timeout"],
  });
  for (const { family, dialled, failure } of verdicts) {
    if (failure === undefined) log.info(`IPv${family}: a connection to ${dialled} was redirected: the rules work`);
    else log.error(`IPv${family}: ${failure}`);
  }
  if (verdicts.every(({ failure }) => failure === undefined)) return 0;
  log.error(
    "traffic of this workload would go past the proxy. If the node's network plugin sets up the rules, it was not " +
      "ready when the pod started: the pod is repaired, or must be deleted to start again",
  );
  return VALIDATION_FAILED;
}
