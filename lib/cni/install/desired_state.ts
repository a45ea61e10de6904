/**
 * From the installer's options to the desired state of the node.
 *
 * Permissions: read (the service account's folder, a template).
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import { readRegularTextSync } from "../../kernel/files/regular.ts";
import type { EnablementSelector } from "../enrolment/label_selector.ts";
import { pluginEntry, podPrefix, TemplateError } from "../config/entry.ts";
import { PLUGIN } from "../config/network.ts";
import type { Executable } from "./executable.ts";
import { type DesiredState, InstallError, type InstallPart } from "./installer.ts";
import { orchConfigText, serverAddress } from "./orch_config.ts";
import type { PluginPlacement } from "./record.ts";

/** The installer's options, from flags and variables. */
export interface DesiredStateOptions {
  readonly chained: boolean;
  readonly owned: boolean;
  readonly ownedName: string;
  readonly confName: string | undefined;
  readonly template: string | undefined;
  readonly templateFile: string | undefined;
  readonly logLevel: string;
  readonly runDir: string;
  readonly ambientEnabled: boolean;
  /** Selectors of pods in ambient mode. Undefined: the plugin's default. */
  readonly ambientSelectors?: readonly EnablementSelector[] | undefined;
  readonly scopedLock: boolean;
  readonly excludeNamespaces: readonly string[];
  readonly skipExecutables: readonly string[];
  readonly podName: string;
  /** Each end is for good: nobody is asked whether another installer comes. Default false. */
  readonly leavesForGood?: boolean;
  readonly podNamespace: string;
  /** The orchestrator's API. */
  readonly protocol: string;
  readonly host: string;
  readonly port: string;
  /** File of the CA instead of the service account's. */
  readonly caFile: string | undefined;
  readonly skipTlsVerify: boolean;
  /** Folder of `token` and `ca.crt`. */
  readonly credentials: string;
  readonly orchConfigMode: number;
  readonly executable: Executable;
  readonly version: string;
}

/**
 * The desired state as of now. Token and CA are read anew.
 * @throws {InstallError} When token, CA or a template's file cannot be read.
 * @throws {TemplateError} When the template cannot be used.
 */
export function currentDesiredState(options: DesiredStateOptions): DesiredState {
  return {
    placement: placementOf(options),
    confName: options.confName,
    ownedName: options.ownedName,
    entry: {
      ...pluginEntry({
        runDir: options.runDir,
        logLevel: options.logLevel,
        ambientEnabled: options.ambientEnabled,
        ambientSelectors: options.ambientSelectors,
        excludeNamespaces: options.excludeNamespaces,
        podNamespace: options.podNamespace,
        agentPods: podPrefix(options.podName),
        template: templateOf(options),
      }),
      ...(options.scopedLock ? {} : { scoped_xtables_lock: false }),
    },
    executable: keepsExecutable(options) ? undefined : options.executable,
    orchConfig: orchConfigText({
      server: serverAddress(options.protocol, options.host, options.port),
      ca: options.skipTlsVerify ? undefined : credential(options.caFile ?? `${options.credentials}/ca.crt`),
      token: credential(`${options.credentials}/token`).trim(),
    }),
    orchConfigMode: options.orchConfigMode,
    version: options.version,
    installer: options.podName,
  };
}

/**
 * Whether the node gets the plugin's executable by other means, so that the installer neither places nor removes it.
 */
export function keepsExecutable({ skipExecutables }: Pick<DesiredStateOptions, "skipExecutables">): boolean {
  return skipExecutables.includes(PLUGIN);
}

function placementOf({ chained, owned }: DesiredStateOptions): PluginPlacement {
  if (!chained) return "standalone";
  return owned ? "owned" : "chained";
}

function templateOf({ template, templateFile }: DesiredStateOptions): string {
  if (template !== undefined) return template;
  return templateFile === undefined ? "" : readText(templateFile, "CREATE_CNI_CONFIG_FAILURE", "template");
}

function readText(path: string, part: InstallPart, what: string): string {
  try {
    return readRegularTextSync(path);
  } catch (error) {
    throw new InstallError(part, `${what}: ${errorMessage(error)}`);
  }
}

function credential(path: string): string {
  return readText(path, "CREATE_KUBECONFIG_FAILURE", "credentials");
}

export { TemplateError };
