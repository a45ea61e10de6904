/**
 * Puts the plugin on a node and removes it: executable, orchestrator config, network configuration, record. The order
 * leaves a working network whenever the work is cut off. The network configuration names the plugin only while the
 * executable and the orchestrator config exist.
 *
 * Permissions: read and write (the node's folders, as mounted).
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import { type ConfigFile, pluginFolder } from "../config/libcni.ts";
import { isConfigName, PLUGIN } from "../config/network.ts";
import type { FileCalls } from "../node/file_calls.ts";
import { bytesOfText, textOfBytes } from "../node/file_text.ts";
import { removeFile, removeUnfinished, replaceFile } from "../node/replace.ts";
import { type ConfigPlan, type DesiredConfig, type InstallStep, planConfig, planRemoval } from "./plan.ts";
import { CALLS_FILE, FACTS_FILE, OLDER_CALLS_FILE, ORCH_CONFIG_FILE } from "../node/run_folder.ts";
import { type Executable, placedFolders, placeExecutable, removeExecutable, sameBytes } from "./executable.ts";
import { configFolders, forgetAllKept, putAside, putBack } from "./links.ts";
import { type InstallRecord, readRecord, RECORD_FILE, recordText } from "./record.ts";

/** Folders of the node, as seen from here. */
export interface NodeFolders {
  /** Network configurations. */
  readonly net: string;
  /** Executables of plugins. */
  readonly bin: string;
  /** Sockets, orchestrator config, calls. */
  readonly run: string;
}

/** The desired state of the node. */
export interface DesiredState extends DesiredConfig {
  /** Undefined: the node has the executable already, and the installer neither places nor removes it. */
  readonly executable: Executable | undefined;
  /** Text and permission bits of the orchestrator config. */
  readonly orchConfig: string;
  readonly orchConfigMode: number;
  /** Version and name of this installer, for the record. */
  readonly version: string;
  readonly installer: string;
}

/** How an installation went. */
export interface InstallOutcome extends Omit<ConfigPlan, "steps"> {
  /** The changes, in words. */
  readonly changed: readonly string[];
  /** Time from another program's change of the configuration to ours, milliseconds; undefined when there was none. */
  readonly gap: number | undefined;
}

/** A failed part of an installation, by the name in metrics. */
export class InstallError extends Error {
  override readonly name = "InstallError";
  /** @param part The failed part. */
  constructor(readonly part: InstallPart, message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

/** Parts of an installation, by the names of their failures in the label `result` of `mesh_cni_installs_total`. */
export type InstallPart = "COPY_BINARIES_FAILURE" | "CREATE_KUBECONFIG_FAILURE" | "CREATE_CNI_CONFIG_FAILURE";

/** Largest configuration, bytes: many times the usual size. */
const MAX_CONFIG = 8 * 1024 * 1024;

/** Mode of a new configuration: everyone on a node may read configurations. */
const CONFIG_MODE = 0o644;

/**
 * Brings the node to the desired state. Nothing is written that is right already.
 * @param executables How an executable on the node is compared with ours. Executables may be a hundred megabytes.
 * @throws {InstallError} When something cannot be written. The earlier installation works on.
 */
export function install(
  folders: NodeFolders,
  desired: DesiredState,
  calls: FileCalls,
  now: () => number,
  executables: "by bytes" | "by size" = "by bytes",
): InstallOutcome {
  const changed: string[] = [];
  part("COPY_BINARIES_FAILURE", () => {
    removeAllUnfinished(folders, calls);
    const { executable } = desired;
    if (executable !== undefined && placeExecutable(folders.bin, executable, calls, now, executables)) {
      changed.push(`executable ${folders.bin}/${PLUGIN}`);
    }
  });
  part("CREATE_KUBECONFIG_FAILURE", () => {
    if (placeOrchConfig(folders, desired, calls)) {
      changed.push(`orchestrator config ${folders.run}/${ORCH_CONFIG_FILE}`);
    }
  });
  return part("CREATE_CNI_CONFIG_FAILURE", () => {
    const outcome = placeConfig(folders, desired, calls, now);
    return { ...outcome, changed: [...changed, ...outcome.changed] };
  });
}

/** Only the last part of {@link install}: quick, for when another program changed a configuration. */
export function placeConfig(
  folders: NodeFolders,
  desired: DesiredState,
  calls: FileCalls,
  now: () => number,
): InstallOutcome {
  if (calls.stat(folders.net)?.is !== "folder") {
    const waiting =
      `the folder of network configurations, ${folders.net}, is not there, or no folder: is the node's folder mounted?`;
    return { config: undefined, waiting, remarks: [], changed: [], gap: undefined };
  }
  const { steps, ...plan } = planConfig(configFiles(folders.net, calls), desired);
  const modified = steps[0] === undefined ? undefined : calls.stat(`${folders.net}/${likeOf(steps[0])}`)?.modified;
  const changed = steps.map((step) => takeStep(folders.net, step, calls));
  const gap = modified === undefined ? undefined : Math.max(0, now() - modified);
  const record = currentRecord(folders, calls);
  if (
    changed.length > 0 || record === undefined || record.state !== "installed" || record.installer !== desired.installer
  ) {
    writeRecord(folders, calls, {
      version: desired.version,
      placement: desired.placement,
      config: plan.config,
      installer: desired.installer,
      at: new Date(now()).toISOString(),
      state: "installed",
    });
  }
  return { ...plan, changed, gap };
}

/** The remaining changes of this installation. Empty when the node is in the desired state. */
export function pendingSteps(folders: NodeFolders, desired: DesiredConfig, calls: FileCalls): ConfigPlan {
  return planConfig(configFiles(folders.net, calls), desired);
}

/**
 * Removes everything in reverse: first the entries that call the plugin, then the plugin. Files get back every byte,
 * and links are links again.
 * @param keepExecutable The executable belonged to the node before (SKIP_CNI_BINARIES).
 * @returns The changes, for people.
 */
export function uninstall(folders: NodeFolders, calls: FileCalls, keepExecutable = false): string[] {
  const changed = planRemoval(configFiles(folders.net, calls)).map((step) => takeStep(folders.net, step, calls));
  if (!keepExecutable) changed.push(...removeExecutable(folders.bin, calls));
  const rest = [
    ...[ORCH_CONFIG_FILE, FACTS_FILE, CALLS_FILE, OLDER_CALLS_FILE].map((name) => `${folders.run}/${name}`),
    `${folders.net}/${RECORD_FILE}`,
  ];
  for (const path of rest) {
    if (calls.stat(path) === undefined) continue;
    removeFile(calls, path);
    changed.push(`removed ${path}`);
  }
  forgetAllKept(folders.net, calls);
  removeAllUnfinished(folders, calls);
  return changed;
}

/** Notes on the node that this installer has ended, and that another installer will take over the installation. */
export function handOver(folders: NodeFolders, calls: FileCalls, reason: string, now: () => number): void {
  const record = currentRecord(folders, calls);
  if (record === undefined) return;
  writeRecord(folders, calls, { ...record, state: "handed over", reason, at: new Date(now()).toISOString() });
}

/** The record on the node. */
export function currentRecord(folders: NodeFolders, calls: FileCalls): InstallRecord | undefined {
  const file = calls.read(`${folders.net}/${RECORD_FILE}`);
  return file === undefined ? undefined : readRecord(new TextDecoder().decode(file.bytes));
}

function writeRecord(folders: NodeFolders, calls: FileCalls, record: InstallRecord): void {
  replaceFile(calls, `${folders.net}/${RECORD_FILE}`, new TextEncoder().encode(recordText(record)), { mode: 0o644 });
}

/** The configurations of a folder. An unreadable file is included, with the reason. */
export function configFiles(folder: string, calls: FileCalls): ConfigFile[] {
  const readIn = (folder: string) =>
    calls.list(folder).filter(isConfigName).map((name): ConfigFile => {
      const bytes = bytesOrWhyNot(`${folder}/${name}`, calls);
      return typeof bytes === "string" ? { name, text: undefined, problem: bytes } : { name, text: textOfBytes(bytes) };
    });
  return readIn(folder).map((file) => {
    const network = pluginFolder(file);
    const pluginFiles = network === undefined ? [] : readIn(`${folder}/${network}`);
    return pluginFiles.length === 0 ? file : { ...file, pluginFiles };
  });
}

function bytesOrWhyNot(path: string, calls: FileCalls): Uint8Array | string {
  try {
    if ((calls.stat(path)?.size ?? 0) > MAX_CONFIG) return `it is larger than ${MAX_CONFIG} bytes`;
    return calls.read(path)?.bytes ?? "it is a link that leads nowhere, as seen from here, or it just went";
  } catch (error) {
    return errorMessage(error);
  }
}

function removeAllUnfinished(folders: NodeFolders, calls: FileCalls): void {
  const placed = placedFolders(folders.bin, calls);
  for (const folder of [...configFolders(folders.net, calls), folders.bin, ...placed, folders.run]) {
    removeUnfinished(calls, folder);
  }
}

function placeOrchConfig(folders: NodeFolders, desired: DesiredState, calls: FileCalls): boolean {
  const path = `${folders.run}/${ORCH_CONFIG_FILE}`;
  const bytes = new TextEncoder().encode(desired.orchConfig);
  calls.makeFolder(folders.run, 0o755);
  const there = calls.read(path);
  if (there !== undefined && there.mode === desired.orchConfigMode && sameBytes(there.bytes, bytes)) return false;
  replaceFile(calls, path, bytes, { mode: desired.orchConfigMode });
  return true;
}

function takeStep(folder: string, step: InstallStep, calls: FileCalls): string {
  const path = `${folder}/${step.file}`;
  if (step.do === "remove") {
    if (step.wrapped) putAside(path, calls);
    else removeFile(calls, path);
    return `removed ${path}`;
  }
  if (step.back && putBack(path, calls)) return `put back ${path}`;
  const like = calls.read(`${folder}/${step.like}`);
  const how = like === undefined ? { mode: CONFIG_MODE } : { mode: like.mode, owner: { uid: like.uid, gid: like.gid } };
  replaceFile(calls, calls.realPath(path), bytesOfText(step.text), how);
  return `wrote ${path}`;
}

function likeOf(step: InstallStep): string {
  return step.do === "write" ? step.like : step.file;
}

function part<T>(name: InstallPart, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new InstallError(name, `${saidOf(error)}${hintFor(error)}`, { cause: error });
  }
}

/** End of an unfinished file's name. */
const UNFINISHED = /\.[0-9a-f]{8}\.mesh-unfinished$/;

/** The same words for the same fault: names of unfinished files differ each time. */
function saidOf({ message }: Error): string {
  return message.replaceAll(
    /\/\.([^/\s'"]+)/g,
    (all, name: string) => UNFINISHED.test(name) ? `/${name.replace(UNFINISHED, "")}` : all,
  ).replace(/, run again with.*$/s, "");
}

function hintFor(error: Error): string {
  if (error instanceof Deno.errors.NotCapable) return ": the program's permission set names no such folder";
  return error instanceof Deno.errors.PermissionDenied || /read-only/i.test(error.message)
    ? " (is the node's folder mounted, writable, and are we root?)"
    : "";
}
