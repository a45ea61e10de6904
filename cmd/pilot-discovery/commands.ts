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
import { discoveryFlags } from "./discovery_flags.ts";
import { offlineCommands } from "./offline_commands.ts";
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
  args: { usage: "<method> <path> [<body>]", min: 2, max: 3, values: ["GET", "POST", "PUT", "DELETE"] },
  run: async ({ args, output }) => {
    const { requestCommand } = await import("../../lib/cli/request.ts");
    return await requestCommand(args, { host: "127.0.0.1", port: MONITORING_PORT }, output);
  },
};

/** The program. */
export const pilotDiscovery: Command = {
  name: "pilot-discovery",
  summary: "Control-plane discovery server of the service mesh",
  description: "pilot-discovery manages traffic, security and policy of the mesh and delivers them to its proxies.",
  globals: vklogFlag,
  commands: [completionCommand("pilot-discovery"), discovery, request, ...offlineCommands, versionCommand],
};
