/**
 * The command tree of `install-cni`. The modules of a command are imported when the command runs, so that `version` and
 * `completion` stay quick.
 *
 * @module
 */
import { checks, type Command, runs } from "../../lib/cli/command.ts";
import { completionCommand } from "../../lib/cli/completion/command.ts";
import { versionCommand } from "../../lib/cli/version.ts";
import { doctorFlags, installFlags, installGlobals, nodeFlags, zdsFlags } from "./flags.ts";
import { laterModule } from "./later.ts";

const doctorCommand: Command = {
  name: "doctor",
  summary: "Say how this node is: configuration, plugin, last calls, rules, and a verdict",
  description:
    "Looks at one node and changes nothing on it: which network configuration the runtime takes, whether the plugin can work, its last calls, a trial in a scratch network namespace, and the rules of pods against those expected. With the name of a pod: whether and how the pod is in ambient mode: the rules, the tunnel, the annotation, the exemption of probes, and a connection like a probe's. Exit code 1 when there is a problem.",
  args: { usage: "[<namespace>/<pod>]", min: 0, max: 1 },
  flags: doctorFlags,
  run: runs(doctorFlags, async ({ flags, given, args, output }) => {
    const { doctor, doctorOfPod } = await laterModule("node");
    const [pod] = args;
    return pod === undefined ? await doctor(flags, given, output) : await doctorOfPod(pod, flags, given, output);
  }),
};

const uninstallCommand: Command = {
  name: "uninstall",
  summary: "Remove the plugin from this node and restore the files that it changed",
  description:
    "For a node on which no installer runs any more, and no orchestrator says so. Network configurations get back every byte that they had. An installer that still runs puts the plugin back.",
  flags: nodeFlags,
  run: runs(nodeFlags, async ({ flags, given, output }) => {
    const { uninstallNode } = await laterModule("node");
    return uninstallNode(flags, given, output);
  }),
};

const zdsCommand: Command = {
  name: "zds",
  summary: "Hold the socket of node tunnels, for the node agent",
  description:
    "The node agent starts this process and speaks to it by standard input and output. The process has no rights but the C library.",
  hidden: true,
  flags: zdsFlags,
  run: runs(zdsFlags, async ({ flags }) => {
    const { zdsMain } = await laterModule("zds");
    return await zdsMain(flags["ztunnel-uds-address"]);
  }),
};

/** The program. */
export const installCni: Command = {
  name: "install-cni",
  summary: "Install the mesh's network plugin on a node, and repair pods that started before it",
  description:
    "Installs and configures the mesh's network plugin on a node, and repairs pods that started before it was there.",
  flags: installFlags,
  globals: installGlobals,
  commands: [completionCommand("install-cni"), doctorCommand, uninstallCommand, versionCommand, zdsCommand],
  run: runs({ ...installFlags, ...installGlobals }, async ({ flags, given }) => {
    const { startInstaller } = await laterModule("start");
    return await startInstaller(flags, given);
  }),
  check: checks({ ...installFlags, ...installGlobals }, async ({ flags, given }) => {
    const { readInstallStart } = await laterModule("start");
    const start = readInstallStart(flags, given);
    return "refusals" in start ? start.refusals.problems : [];
  }),
};
