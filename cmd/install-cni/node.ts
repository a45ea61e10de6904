/**
 * The commands for one node: `doctor` and `uninstall`.
 *
 * Permissions: the permissions of `lib/cni/doctor/gather.ts` and `lib/cni/doctor/probe.ts`; for `uninstall` write (the
 * node's folders).
 *
 * @module
 */
import { type Output, UsageError } from "../../lib/cli/command.ts";
import { readProgramSettings } from "../../lib/cli/startup.ts";
import { askAgent } from "../../lib/cni/doctor/ask_agent.ts";
import { type DoctorFinding, examine, verdict } from "../../lib/cni/doctor/examine.ts";
import { examinePod, podVerdict } from "../../lib/cni/doctor/pod.ts";
import { gather, sample } from "../../lib/cni/doctor/gather.ts";
import { dialPod, probeHere, probeIn } from "../../lib/cni/doctor/probe.ts";
import { inScratch } from "../../lib/cni/doctor/scratch.ts";
import { type NodeFolders, uninstall } from "../../lib/cni/install/installer.ts";
import { readOrchConfig } from "../../lib/cni/install/orch_config.ts";
import { keepsExecutable } from "../../lib/cni/install/desired_state.ts";
import { systemFileCalls } from "../../lib/cni/node/file_calls.ts";
import { whileLocked } from "../../lib/cni/node/lock.ts";
import { LOCK_FILE } from "../../lib/cni/node/run_folder.ts";
import { systemRedirector } from "../../lib/cni/plugin/system_redirector.ts";
import { QuickPods } from "../../lib/cni/pods/lookup.ts";
import type { DoctorFlagValues, NodeFlagValues } from "./flags.ts";
import { ownCommandLine } from "./own_command_line.ts";
import { commaList } from "../../lib/kernel/text/comma_list.ts";

/** Examines the node. Resolves with 0 for a healthy node, otherwise with 1. */
export async function doctor(flags: DoctorFlagValues, given: ReadonlySet<string>, output: Output): Promise<number> {
  if (flags["probe-here"]) {
    const lines = await probeHere(sample());
    for (const line of lines) output.out(`${line}\n`);
    return lines.length === 0 ? 0 : 1;
  }
  if (flags.dial !== "") {
    output.out(`${JSON.stringify(await dialPod(commaList(flags.dial)))}\n`);
    return 0;
  }
  const folders = foldersOf(flags, given);
  const findings = examine(
    await gather({
      folders,
      calls: systemFileCalls,
      redirector: () => systemRedirector({ scopedLock: true, factsFile: undefined }),
      pods: (text) => new QuickPods(readOrchConfig(text)),
      inScratch,
      probe: (netns) => probeIn(netns, [...ownCommandLine(), "doctor", "--probe-here"]),
    }),
  );
  return show(findings, verdict(findings), flags, output);
}

/**
 * Examines a pod in ambient mode. Resolves with 0 for a pod that is captured, or rightly out, otherwise with 1.
 * @throws {UsageError} For a wrong name, and when no node agent answers.
 */
export async function doctorOfPod(
  name: string,
  flags: DoctorFlagValues,
  given: ReadonlySet<string>,
  output: Output,
): Promise<number> {
  const [namespace = "", pod = "", ...more] = name.split("/");
  if (namespace === "" || pod === "" || more.length > 0) {
    throw new UsageError(`doctor: got ${JSON.stringify(name)}, expected NAMESPACE/POD`);
  }
  const { run } = foldersOf(flags, given);
  const report = await askAgent(run, namespace, pod).catch((error) => {
    throw new UsageError(`doctor: no ambient node agent answers in ${run}: ${error.message}`);
  });
  if (report === undefined) throw new UsageError(`doctor: there is no pod ${name} on this node`);
  const findings = examinePod(report);
  return show(findings, podVerdict(findings), flags, output, { report });
}

function show(
  findings: readonly DoctorFinding[],
  judged: string,
  flags: DoctorFlagValues,
  output: Output,
  more: object = {},
): number {
  if (flags.output === "json") output.out(JSON.stringify({ verdict: judged, findings, ...more }, null, 2) + "\n");
  else {
    const width = Math.max(...findings.map(({ about }) => about.length));
    const mark = { ok: "ok     ", note: "note   ", problem: "PROBLEM" };
    for (const { severity, about, text } of findings) output.out(`${mark[severity]} ${about.padEnd(width)} ${text}\n`);
    output.out(`${judged}\n`);
  }
  return findings.some((finding) => finding.severity === "problem") ? 1 : 0;
}

/**
 * Removes the plugin from the node and restores the changed files. Resolves with 0.
 * @throws {UsageError} When a file cannot be changed, or a running installer does not end.
 */
export function uninstallNode(flags: NodeFlagValues, given: ReadonlySet<string>, output: Output): number {
  const folders = foldersOf(flags, given);
  const skipExecutables = commaList(readProgramSettings("install-cni").SKIP_CNI_BINARIES);
  const work = () => uninstall(folders, systemFileCalls, keepsExecutable({ skipExecutables }));
  // Without a run folder no installer is running, and no other process would take the lock. So no folder is created for
  // a lock.
  const alone = () => systemFileCalls.stat(folders.run) === undefined;
  let changed: string[];
  try {
    changed = alone() ? work() : whileLocked(`${folders.run}/${LOCK_FILE}`, work);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new UsageError(`uninstall: ${error.message}; the next uninstall does the rest`);
  }
  for (const line of changed) output.out(`${line}\n`);
  if (changed.length === 0) output.out("nothing of the plugin is on this node\n");
  return 0;
}

function foldersOf(flags: NodeFlagValues, given: ReadonlySet<string>): NodeFolders {
  const settings = readProgramSettings("install-cni");
  return {
    net: given.has("mounted-cni-net-dir") ? flags["mounted-cni-net-dir"] : settings.MOUNTED_CNI_NET_DIR,
    bin: settings.MESH_CNI_BIN_DIR,
    run: given.has("cni-agent-run-dir") ? flags["cni-agent-run-dir"] : settings.CNI_AGENT_RUN_DIR,
  };
}
