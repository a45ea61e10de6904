/**
 * The command tree of `pilot-agent`. The modules of a command are imported when the command runs, so that `version` and
 * `completion` stay quick.
 *
 * @module
 */
import { checks, type Command, runs, UsageError } from "../../lib/cli/command.ts";
import { completionCommand } from "../../lib/cli/completion/command.ts";
import { intFlag, stringFlag } from "../../lib/cli/flag.ts";
import { logFlags, vklogFlag } from "../../lib/cli/log_flags.ts";
import { versionCommand } from "../../lib/cli/version.ts";
import { iptablesFlags } from "./iptables_flags.ts";
import { proxyFlags } from "./proxy_flags.ts";

const globals = { ...logFlags("pilot-agent"), ...vklogFlag };

const proxy: Command = {
  name: "proxy",
  summary: "Run the agent beside a proxy",
  description: "Starts and drains the proxy, relays discovery, renews certificates, answers DNS, health and metrics.",
  args: { usage: "[sidecar|router|waypoint]", min: 0, max: 1, values: ["router", "sidecar", "waypoint"] },
  flags: proxyFlags,
  run: runs({ ...proxyFlags, ...globals }, async ({ flags, args, given }) => {
    const { readProxyStart } = await import("./read_proxy.ts");
    const start = readProxyStart(flags, args[0]);
    if ("refusals" in start) throw start.refusals.error();
    const { runProxy } = await import("./proxy.ts");
    return await runProxy(start, given);
  }),
  check: checks({ ...proxyFlags, ...globals }, async ({ flags, args }) => {
    const { readProxyStart } = await import("./read_proxy.ts");
    const start = readProxyStart(flags, args[0]);
    return "refusals" in start ? start.refusals.problems : [];
  }),
};

const iptables: Command = {
  name: "mesh-iptables",
  aliases: ["istio-iptables"],
  summary: "Set up redirection of a workload's traffic to its proxy",
  description:
    "Sets up the rules that redirect a workload's traffic to its proxy. Needs NET_ADMIN in the network namespace.",
  flags: iptablesFlags,
  run: runs({ ...iptablesFlags, ...globals }, async ({ flags, given, output }) => {
    const { runIptables } = await import("./mesh_iptables.ts");
    return await runIptables(flags, given, output.out);
  }),
  check: checks({ ...iptablesFlags, ...globals }, async ({ flags, given }) => {
    const { readIptablesStart } = await import("./mesh_iptables.ts");
    const start = readIptablesStart(flags, given);
    return "refusals" in start ? start.refusals.problems : [];
  }),
};

/** Ports of a workload for `request`: admin, readiness, agent, token and debug. */
const REQUEST_PORTS = [15000, 15004, 15020, 15021];

const requestFlags = {
  "debug-port": intFlag(
    "int32",
    15000,
    `local port to ask: ${REQUEST_PORTS.join(", ")}; the default is the proxy's admin port`,
    {
      complete: REQUEST_PORTS.map(String),
    },
  ),
};

const request: Command = {
  name: "request",
  summary: "Make one HTTP request to the proxy's admin pages",
  description: "Makes one HTTP request to the proxy, or the agent, of this workload and prints the answer.",
  examples: "  pilot-agent request GET stats\n  pilot-agent request --debug-port 15020 GET healthz/ready",
  args: { usage: "<method> <path> [<body>]", min: 2, max: 3, values: ["GET", "POST"] },
  flags: requestFlags,
  run: runs({ ...requestFlags, ...globals }, async ({ flags, args, output }) => {
    const port = flags["debug-port"];
    if (!REQUEST_PORTS.includes(port)) {
      throw new UsageError(
        `pilot-agent request: flag --debug-port: got ${port}, expected one of ${REQUEST_PORTS.join(", ")}`,
      );
    }
    const { requestCommand } = await import("../../lib/cli/request.ts");
    return await requestCommand(args, { host: "localhost", port }, output);
  }),
};

const waitFlags = {
  periodMillis: intFlag("int", 500, "milliseconds between attempts"),
  requestTimeoutMillis: intFlag("int", 500, "milliseconds that one attempt may take"),
  timeoutSeconds: intFlag("int", 60, "seconds to wait in all"),
  url: stringFlag("http://localhost:15021/healthz/ready", "address that answers 200 when the proxy is ready"),
};

const wait: Command = {
  name: "wait",
  summary: "Wait until the proxy is ready",
  description: "Waits until the proxy is ready: asks an address again and again until it answers 200.",
  flags: waitFlags,
  run: runs({ ...waitFlags, ...globals }, async ({ flags }) => {
    const { waitOptions, waitUntilReady } = await import("./wait.ts");
    await waitUntilReady(waitOptions(flags));
    return 0;
  }),
  check: checks(waitFlags, async ({ flags }) => {
    const [{ waitOptions }, { Refusals }] = await Promise.all([
      import("./wait.ts"),
      import("../../lib/cli/refusals.ts"),
    ]);
    const refusals = new Refusals();
    refusals.attempt(() => waitOptions(flags));
    return refusals.problems;
  }),
};

/** The program. */
export const pilotAgent: Command = {
  name: "pilot-agent",
  summary: "Agent beside a workload of the service mesh",
  description: "pilot-agent runs in the sidecar or gateway container and looks after its proxy.",
  globals,
  commands: [completionCommand("pilot-agent"), iptables, proxy, request, versionCommand, wait],
};
