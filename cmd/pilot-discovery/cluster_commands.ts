/**
 * Commands that ask the API of a cluster. They write nothing into it.
 *
 * @module
 */
import type { Command } from "../../lib/cli/command.ts";
import { bugReportFlags, precheckFlags } from "./cluster_flags.ts";
import { COULD_NOT_RUN, later, moduleAt } from "./later.ts";

/** Whether the mesh can be installed. */
export const precheckCommand: Command = {
  name: "precheck",
  summary: "Tell whether the mesh can be installed in a cluster, or upgraded",
  description:
    `Checks the version of the cluster, the rights to install, the definitions of the kinds and of the Gateway API, and webhooks
that would inject the same pods; ports of containers that the proxy needs, and ports of Services with no protocol or with two;
with --cni the nodes, with --server the running proxies. Nothing is written. Exit code: 0 no result is an error, 1 some is, 2
this could not be found out.`,
  examples: `  pilot-discovery precheck
  pilot-discovery precheck --revision canary --server 127.0.0.1:8080`,
  flags: precheckFlags,
  mistake: COULD_NOT_RUN,
  run: later(precheckFlags, async () => {
    const loaded: typeof import("./precheck_command.ts") = await import(moduleAt("precheck_command"));
    return loaded.runPrecheck;
  }),
};

const bugReport: Command = {
  name: "bug-report",
  summary: "Write one archive about a mesh, without credentials, for people who help",
  description:
    `Collects the pages of a server, the configuration of its proxies, objects of the mesh's kinds with their statuses, events,
nodes and logs. Keys, tokens, passwords, the data of Secrets and the values of unknown variables are taken out; look at the archive
before you send it. Exit code: 0 everything is in it, 1 parts are missing, 2 there is no report.`,
  examples: `  kubectl -n mesh-system port-forward deployment/meshd 8080 &
  pilot-discovery bug-report --include shop,edge
  pilot-discovery bug-report --cluster=false --archive - > report.tar.gz`,
  flags: bugReportFlags,
  mistake: COULD_NOT_RUN,
  run: later(bugReportFlags, async () => {
    const loaded: typeof import("./bug_report_command.ts") = await import(moduleAt("bug_report_command"));
    return loaded.runBugReport;
  }),
};

export const clusterCommands: readonly Command[] = [bugReport, precheckCommand];
