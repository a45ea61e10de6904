/**
 * The command tree of `pilot-discovery`. The modules of a command are imported when the command runs, so that `version`
 * and `completion` stay quick.
 *
 * @module
 */
import { checks, type Command, runs } from "../../lib/cli/command.ts";
import { completionCommand } from "../../lib/cli/completion/command.ts";
import { vklogFlag } from "../../lib/cli/log_flags.ts";
import { versionCommand } from "../../lib/cli/version.ts";
import { moduleBeside } from "../../lib/kernel/program/late_module.ts";
import { clusterCommands } from "./cluster_commands.ts";
import { discoveryFlags } from "./discovery_flags.ts";
import { moduleAt } from "./later.ts";
import { offlineCommands } from "./offline_commands.ts";
import { objectCommands } from "./object_commands.ts";
import { experimental, serverCommands } from "./server_commands.ts";
import { setUpError } from "./set_up.ts";

/**
 * The server's module, loaded when the server is to run. (`scripts/late_modules.ts` names the module to packers of the
 * program.)
 */
const serverModule = moduleBeside("start", import.meta.url).href;

const discovery: Command = {
  name: "discovery",
  summary: "Start the proxy discovery service",
  description: "Starts the discovery server: it watches configuration and services, and sends every proxy its part.",
  examples: `  # A folder of configuration, no orchestrator:
  pilot-discovery discovery --configDir ./mesh --registries Mock`,
  flags: discoveryFlags,
  run: runs({ ...discoveryFlags, ...vklogFlag }, async ({ flags, given }) => {
    const server: typeof import("./start.ts") = await import(serverModule).catch((error) => {
      throw setUpError(error) ?? error;
    });
    return await server.startDiscovery(flags, given);
  }),
  check: checks({ ...discoveryFlags, ...vklogFlag }, async ({ flags, given }) => {
    const { readDiscoveryStart } = await import("./read_options.ts");
    const start = readDiscoveryStart(flags, given, false);
    return "refusals" in start ? start.refusals.problems : [];
  }),
};

/** Port of a running server's metrics and debug pages. */
const MONITORING_PORT = 15014;

const request: Command = {
  name: "request",
  summary: "Make one HTTP request to a running server's metrics and debug pages",
  description:
    `Makes one HTTP request to the server that runs on this machine (127.0.0.1:${MONITORING_PORT}) and prints the answer.`,
  examples: "  pilot-discovery request GET /debug/syncz",
  args: {
    usage: "<method> <path> [<body>]",
    min: 2,
    max: 3,
    values: ["GET", "POST", "PUT", "DELETE"],
    complete: "page",
  },
  run: async ({ args, output }) => {
    const { requestCommand } = await import("../../lib/cli/request.ts");
    return await requestCommand(args, { host: "127.0.0.1", port: MONITORING_PORT }, output);
  },
};

/** Verbs of istioctl with another name here. */
const ISTIOCTL_VERBS: Readonly<Record<string, string>> = {
  analyze: '"pilot-discovery check"',
  validate: '"pilot-discovery check"',
  install: '"pilot-discovery manifests", for kubectl apply',
  manifest: '"pilot-discovery manifests"',
  upgrade: '"pilot-discovery manifests" with --revision, for kubectl apply',
  uninstall: '"pilot-discovery manifests", for kubectl delete',
  operator: '"pilot-discovery manifests", for kubectl apply',
  profile: '"pilot-discovery manifests" with --values',
  "kube-inject": "the webhook of a running server, which injects pods as they are created",
  "ztunnel-config": "the pages /debug/ambient_pods and /debug/ambientz of the server",
  admin: "the page /debug/scopez of the server",
  "remote-clusters": "the page /debug/clusterz of the server",
  multicluster: '"pilot-discovery create-remote-secret"',
  revision: '"pilot-discovery tag list", with the output of kubectl',
  workload: "the pages about virtual machines of the documentation",
};

/** The program. */
export const pilotDiscovery: Command = {
  name: "pilot-discovery",
  summary: "Control-plane discovery server of the service mesh",
  description: "pilot-discovery manages traffic, security and policy of the mesh and delivers them to its proxies.",
  globals: vklogFlag,
  elsewhere: ISTIOCTL_VERBS,
  names: async (question) => {
    const loaded: typeof import("./names_for_completion.ts") = await import(moduleAt("names_for_completion"));
    return await loaded.namesForCompletion(question);
  },
  commands: [
    completionCommand("pilot-discovery"),
    discovery,
    request,
    ...offlineCommands,
    ...objectCommands,
    ...serverCommands,
    ...clusterCommands,
    experimental,
    versionCommand,
  ],
};
