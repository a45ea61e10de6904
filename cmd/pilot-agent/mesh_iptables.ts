/**
 * The command `mesh-iptables`: flags and settings to the engine of redirection, and back to an exit code.
 *
 * Permissions: read (/etc/passwd, /etc/group, /etc/resolv.conf), run (iptables and its kin, ip, nsenter), net and sys
 * (networkInterfaces, uid, gid, setuid, setgid) for the check, env, write (the file of a dry run).
 *
 * @module
 */
import { errorMessage } from "../../lib/kernel/text/error_message.ts";
import { readRegularTextSync, requireRegularSync } from "../../lib/kernel/files/regular.ts";
import { UsageError } from "../../lib/cli/command.ts";
import { type LogFlagValues, logOptions } from "../../lib/cli/log_flags.ts";
import { Refusals } from "../../lib/cli/refusals.ts";
import { readProgramSettings } from "../../lib/cli/startup.ts";
import { nameServersOf } from "../../lib/iptables/accounts.ts";
import { applyRedirection } from "../../lib/iptables/apply.ts";
import type { RedirectionConfig } from "../../lib/iptables/model/config.ts";
import { cleanUpText, dryRunText } from "../../lib/iptables/dry_run.ts";
import {
  type Input,
  InputError,
  type InputFinding,
  readInputs,
  type RedirectionInputs,
} from "../../lib/iptables/input.ts";
import { ApplyError } from "../../lib/iptables/outcome.ts";
import { probeProblems } from "../../lib/iptables/probe.ts";
import { namespacePath, NOT_FOUND, systemRun } from "../../lib/iptables/run.ts";
import { validateRedirection } from "../../lib/iptables/validate.ts";
import { createLog, type Logger, silentLog } from "../../lib/kernel/log/log.ts";
import { scopes } from "../../lib/kernel/log/scopes.ts";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import { becomeProxy, checkInNamespace, VALIDATION_FAILED } from "./as_proxy.ts";
import { iptablesFlags, type IptablesFlagValues } from "./iptables_flags.ts";

type Settings = SettingsOf<"pilot-agent">;

/** The inputs of a run of the command. */
export interface IptablesInvocation {
  readonly flags: IptablesFlagValues;
  /** The given flags. */
  readonly given: ReadonlySet<string>;
  readonly settings: Settings;
  readonly log: Logger;
  /** Takes the text of a dry run. */
  readonly out: (text: string) => void;
}

/** Settings, log options and checked inputs, or all mistakes, a line each. */
export function readIptablesStart(flags: IptablesFlagValues & LogFlagValues, given: ReadonlySet<string>) {
  const refusals = new Refusals();
  const logs = refusals.attempt(() => logOptions("pilot-agent", flags));
  const settings = refusals.attempt(() => readProgramSettings("pilot-agent"));
  const log = silentLog().scope("default");
  const invocation = { flags, given, settings: settings ?? defaultSettings("pilot-agent"), log, out: () => {} };
  const config = refusals.attempt(() => readConfig(invocation));
  return logs && settings && config ? { logs, settings } : { refusals };
}

/** Reads everything, opens the log and runs the command; see {@link meshIptables}. */
export async function runIptables(
  flags: IptablesFlagValues & LogFlagValues,
  given: ReadonlySet<string>,
  out: (text: string) => void,
): Promise<number> {
  const start = readIptablesStart(flags, given);
  if ("refusals" in start) throw start.refusals.error();
  const log = createLog(scopes["pilot-agent"], start.logs);
  try {
    return await meshIptables({ flags, given, settings: start.settings, log: log.scope("default"), out });
  } finally {
    log.close();
  }
}

/**
 * Runs the command.
 * @returns The exit code: 0, or {@link VALIDATION_FAILED}.
 * @throws {UsageError} For wrong inputs and for rules that cannot be set up: exit code 1.
 */
async function meshIptables(invocation: IptablesInvocation): Promise<number> {
  const { flags, settings, log, out } = invocation;
  const config = readConfig(invocation);
  if (flags["dry-run"]) {
    const text = flags["skip-rule-apply"] ? "" : flags["cleanup-only"] ? cleanUpText(config) : dryRunText(config);
    out(text);
    if (settings.DRY_RUN_FILE_PATH !== "") writeDryRun(settings.DRY_RUN_FILE_PATH, text);
    return 0;
  }
  if (flags["network-namespace"] !== "") await checkNamespace(inputOf(flags, "network-namespace"));
  if (!flags["skip-rule-apply"]) await apply(config, flags, log);
  if (!checks(flags)) return 0;
  return await validate(config, flags, log);
}

/** True when the rules are to be checked: a clean-up leaves none. */
function checks(flags: IptablesFlagValues): boolean {
  return flags["run-validation"] && !flags["cleanup-only"];
}

/** A flag in the words of messages. */
function inputOf(flags: IptablesFlagValues, name: keyof IptablesFlagValues): Input {
  const variable = iptablesFlags[name].env?.[0];
  const also = variable === undefined ? "" : ` (variable ${variable})`;
  return { name: `flag --${name}${also}`, value: String(flags[name]) };
}

/** The inputs, by the names of flags and variables. */
export function redirectionInputs(
  flags: IptablesFlagValues,
  given: ReadonlySet<string>,
  settings: Settings,
): RedirectionInputs {
  const flag = (name: keyof IptablesFlagValues) => inputOf(flags, name);
  // The injector shares variables of this name. The flag and the flag's own variable take precedence.
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

/** The checked configuration, or a single error with all problems. */
function readConfig({ flags, given, settings, log }: IptablesInvocation): RedirectionConfig {
  const inputs = redirectionInputs(flags, given, settings);
  const problems: InputFinding[] = [];
  let config: RedirectionConfig | undefined;
  try {
    const read = readInputs(inputs, {
      passwd: readOrEmpty("/etc/passwd"),
      group: readOrEmpty("/etc/group"),
      nameServers: nameServersOf(readOrEmpty("/etc/resolv.conf")),
    });
    for (const warning of read.warnings) log.warn(warning);
    config = read.config;
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    problems.push(...error.problems);
  }
  const probe = {
    port: inputOf(flags, "iptables-probe-port"),
    timeout: {
      ...inputOf(flags, "probe-timeout"),
      value: `${flags["probe-timeout"]}ms`,
      milliseconds: flags["probe-timeout"],
    },
    interfacesExcluded: inputs.interfacesExcluded,
    outboundPortsExcluded: inputs.outboundPortsExcluded,
  };
  problems.push(...probeProblems(probe, checks(flags) ? config : undefined));
  if (config === undefined || problems.length > 0) throw refusal(problems);
  return config;
}

function refusal(problems: readonly InputFinding[]): UsageError {
  return new UsageError(`pilot-agent mesh-iptables: ${new InputError(problems).message}`);
}

function readOrEmpty(path: string): string {
  try {
    return readRegularTextSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

function writeDryRun(path: string, text: string): void {
  try {
    requireRegularSync(path);
    Deno.writeTextFileSync(path, text);
  } catch (error) {
    const outside = error instanceof Deno.errors.NotCapable;
    const cause = errorMessage(error);
    const why = outside ? "this program may write below /tmp and /var/log, but not there" : cause;
    throw new UsageError(
      `DRY_RUN_FILE_PATH: got ${JSON.stringify(path)}, expected a file that can be written: ${why}`,
    );
  }
}

/** Enters the namespace once, so that a wrong namespace is reported as a wrong namespace. */
async function checkNamespace(input: Input): Promise<void> {
  const { code, stderr } = await systemRun({ networkNamespace: input.value })("ip", ["-V"]);
  if (code === 0) return;
  const why = stderr.trim().split("\n")[0] ?? "";
  if (code === NOT_FOUND) {
    throw new UsageError(`pilot-agent mesh-iptables: ${input.name} needs the tools nsenter and ip: ${why}`);
  }
  throw refusal([{ ...input, expected: `a network namespace that can be entered, by name or path: ${why}` }]);
}

async function apply(config: RedirectionConfig, flags: IptablesFlagValues, log: Logger): Promise<void> {
  const networkNamespace = flags["network-namespace"] || undefined;
  // Other programs of the node may hold the machine's lock for long. The rules of a pod are the pod's own, so another
  // lock is enough.
  const lockFile = flags["cni-mode"] ? namespacePath(networkNamespace ?? "/proc/self/ns/net") : undefined;
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
  if (networkNamespace !== undefined) return await checkInNamespace(networkNamespace);
  if (!isProxy) becomeProxy(config, log);
  const verdicts = await validateRedirection({
    proxyPort: config.proxyPort,
    inboundPort: config.inboundPort,
    probePort: flags["iptables-probe-port"],
    notRedirected: config.loopback[4],
    timeout: flags["probe-timeout"],
  });
  for (const { family, dialled, failure, inUse } of verdicts) {
    const by = inUse.length === 0 ? "" : ` (to the present listener of port ${inUse.join(", ")})`;
    if (failure === undefined) log.info(`IPv${family}: a connection to ${dialled} was redirected${by}: the rules work`);
    else log.error(`IPv${family}: ${failure}`);
  }
  if (verdicts.every(({ failure }) => failure === undefined)) return 0;
  log.error(
    "traffic of this workload would go past the proxy. If the node's network plugin sets up the rules, it was not " +
      "ready when the pod started: the pod is repaired, or must be deleted to start again",
  );
  return VALIDATION_FAILED;
}
