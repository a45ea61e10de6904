/**
 * Commands that ask a running server, or a running proxy, under the names that users of `istioctl` know.
 *
 * @module
 */
import type { Command } from "../../lib/cli/command.ts";
import type { FlagSet } from "../../lib/cli/flag.ts";
import { COULD_NOT_RUN, later, moduleAt } from "./later.ts";
import { precheckCommand } from "./cluster_commands.ts";
import { describeFlags } from "./describe_flags.ts";
import {
  dashboardFlags,
  proxyBootstrapFlags,
  proxyClustersFlags,
  proxyEndpointsFlags,
  proxyListenersFlags,
  proxyLogFlags,
  proxyRoutesFlags,
  proxySecretsFlags,
  proxyStatusFlags,
  rolloutFlags,
  scopeFlags,
  waitFlags,
} from "./server_flags.ts";

const proxyStatus: Command = {
  name: "proxy-status",
  aliases: ["ps"],
  summary: "List connected proxies, and whether they have acknowledged what they were sent",
  description:
    `SYNCED: acknowledged. STALE: sent and not acknowledged. NOT SENT: nothing to send. ERROR: the proxy rejects it. IGNORED: the
proxy does not ask for it. Exit code: 0 all listed proxies are in sync, 1 some are not, 2 this could not be found out.`,
  examples: `  pilot-discovery proxy-status
  pilot-discovery proxy-status cart.shop --server 10.0.0.1:8080 --server 10.0.0.2:8080`,
  args: { usage: "[<name[.namespace]>]", min: 0, max: 1, complete: "pod" },
  flags: proxyStatusFlags,
  mistake: COULD_NOT_RUN,
  run: later(proxyStatusFlags, async () => {
    const loaded: typeof import("./proxy_status_command.ts") = await import(moduleAt("proxy_status_command"));
    return loaded.runProxyStatus;
  }),
};

type TableName = import("./proxy_config_command.ts").TableName;

/** A command that shows a table of a proxy's resources. */
function table<F extends FlagSet>(name: TableName, aliases: readonly string[], summary: string, flags: F): Command {
  return {
    ...{ name, aliases, summary, flags },
    description:
      "Names the proxy at a server, or reads the proxy's own configuration: --file, --admin. -o json prints resources.",
    examples: `  pilot-discovery proxy-config ${name} cart.shop
  curl -s '127.0.0.1:15000/config_dump?include_eds' | pilot-discovery proxy-config ${name} -f -`,
    args: { usage: "[<name.namespace>]", min: 0, max: 1, complete: "pod" },
    mistake: COULD_NOT_RUN,
    run: later(flags, async () => {
      const loaded: typeof import("./proxy_config_command.ts") = await import(moduleAt("proxy_config_command"));
      return (invocation) => loaded.runTable(name, invocation);
    }),
  };
}

const proxyConfig: Command = {
  name: "proxy-config",
  aliases: ["pc"],
  summary: "Show the configuration of one proxy as tables",
  description: "Shows what a server has for a connected proxy, or what a proxy says of itself.",
  commands: [
    table("clusters", ["cluster", "c"], "List the clusters of a proxy", proxyClustersFlags),
    table("listeners", ["listener", "l"], "List the listeners of a proxy", proxyListenersFlags),
    table("routes", ["route", "r"], "List the routes of a proxy", proxyRoutesFlags),
    table("endpoints", ["endpoint", "ep"], "List the endpoints of a proxy", proxyEndpointsFlags),
    table("secret", ["secrets", "s"], "List the certificates of a proxy", proxySecretsFlags),
    {
      name: "bootstrap",
      aliases: ["b"],
      summary: "Print the bootstrap of a proxy",
      description: "Only the proxy knows its bootstrap, so --file or --admin is needed.",
      examples: "  pilot-discovery proxy-config bootstrap --admin 127.0.0.1:15000",
      flags: proxyBootstrapFlags,
      mistake: COULD_NOT_RUN,
      run: later(proxyBootstrapFlags, async () => {
        const loaded: typeof import("./proxy_config_command.ts") = await import(moduleAt("proxy_config_command"));
        return loaded.runBootstrap;
      }),
    },
    {
      name: "log",
      aliases: ["o"],
      summary: "Show or change the log levels of a proxy",
      description: "Asks the proxy's admin port, such as that of `kubectl port-forward`.",
      examples: `  pilot-discovery proxy-config log
  pilot-discovery proxy-config log --level http:debug,connection:debug
  pilot-discovery proxy-config log --reset`,
      flags: proxyLogFlags,
      exclusive: [["level", "reset"]],
      mistake: COULD_NOT_RUN,
      run: later(proxyLogFlags, async () => {
        const loaded: typeof import("./proxy_log_command.ts") = await import(moduleAt("proxy_log_command"));
        return loaded.runProxyLog;
      }),
    },
  ],
};

const wait: Command = {
  name: "wait",
  summary: "Wait until an object is in force on all proxies of a server",
  description:
    `Waits for the content that the server reads now. Exit code: 0 it is in force on all proxies that the object concerns (or
gone from them, with --for delete), 1 it is not, with the reasons, 2 this could not be found out.`,
  examples: `  kubectl apply -f routes.yaml && pilot-discovery wait virtualservice reviews.shop
  pilot-discovery wait --for delete virtualservice reviews.shop --timeout 60s`,
  args: { usage: "<kind> <name.namespace>", min: 1, max: 2, complete: "object" },
  flags: waitFlags,
  mistake: COULD_NOT_RUN,
  run: later(waitFlags, async () => {
    const loaded: typeof import("./wait_command.ts") = await import(moduleAt("wait_command"));
    return loaded.runWait;
  }),
};

const dashboard: Command = {
  name: "dashboard",
  aliases: ["dash", "d"],
  summary: "Print the address of a server's pages for a browser",
  description: "Prints the address of the overview, or of the page of a connected proxy, if the server answers.",
  examples: `  pilot-discovery dashboard
  xdg-open "$(pilot-discovery dashboard cart.shop)"`,
  args: { usage: "[<name.namespace>]", min: 0, max: 1, complete: "pod" },
  flags: dashboardFlags,
  mistake: COULD_NOT_RUN,
  run: later(dashboardFlags, async () => {
    const loaded: typeof import("./dashboard_command.ts") = await import(moduleAt("dashboard_command"));
    return loaded.runDashboard;
  }),
};

function describing(sort: "pod" | "service", aliases: readonly string[], examples: string): Command {
  return {
    ...{ name: sort, aliases, examples, flags: describeFlags },
    summary: `Describe a ${sort}: the objects that concern it, and what they make of it`,
    description:
      `Shows services, ports, subsets, routes, gateways, policies, mutual TLS and findings, of a running server or, with --files, of
files. Exit code: 0 no finding is an error, 1 some is, 2 this could not be found out.`,
    args: { usage: "<name[.namespace]>", min: 1, max: 1, complete: sort },
    mistake: COULD_NOT_RUN,
    run: later(describeFlags, async () => {
      const loaded: typeof import("./describe_command.ts") = await import(moduleAt("describe_command"));
      return (invocation) => loaded.runDescribe(sort, invocation);
    }),
  };
}

const describe: Command = {
  name: "describe",
  aliases: ["des"],
  summary: "Describe a pod or a service",
  description: "Shows which objects concern a pod or a service, and what they make of it.",
  commands: [
    describing(
      "pod",
      ["po"],
      `  pilot-discovery describe pod cart.shop
  pilot-discovery describe pod cart.shop --files mesh/`,
    ),
    describing("service", ["svc"], "  pilot-discovery describe service reviews.shop"),
  ],
};

const rollout: Command = {
  name: "rollout",
  summary: "List staged rollouts, and print the edit that pauses, resumes, aborts or promotes one",
  description:
    `Shows stage, chosen proxies, acknowledgements, rejections, and what a rollout waits for. With pause, resume, abort or promote
prints a command, or an object for a file: the server itself writes no object. A deletion of an object is not staged.
Exit code: 0 no shown rollout was taken back, or an edit is printed, 1 some rollout was taken back, 2 this could not be found out.`,
  examples: `  pilot-discovery rollout
  pilot-discovery rollout virtualservice/shop/cart
  pilot-discovery rollout pause virtualservice/shop/cart | sh
  pilot-discovery rollout abort virtualservice/shop/cart | kubectl apply -f -`,
  args: { usage: "[pause|resume|abort|promote] [<kind/namespace/name>]", min: 0, max: 2, complete: "object" },
  flags: rolloutFlags,
  mistake: COULD_NOT_RUN,
  run: later(rolloutFlags, async () => {
    const loaded: typeof import("./rollout_command.ts") = await import(moduleAt("rollout_command"));
    return loaded.runRollout;
  }),
};

const scope: Command = {
  name: "scope",
  summary: "Print the Sidecar that fits what a workload has called",
  description:
    `The server knows only the calls of sidecars with on-demand discovery. Comments say what is known, what the Sidecar would
leave out, and the bytes and memory of a sidecar with it. Exit code: 0 a Sidecar is printed, 1 too little is known, with the reason,
2 this could not be found out.`,
  examples: `  pilot-discovery scope shop/cart
  pilot-discovery scope shop/cart > sidecar.yaml`,
  args: { usage: "<namespace/workload>", min: 1, max: 1 },
  flags: scopeFlags,
  mistake: COULD_NOT_RUN,
  run: later(scopeFlags, async () => {
    const loaded: typeof import("./scope_command.ts") = await import(moduleAt("scope_command"));
    return loaded.runScope;
  }),
};

export const serverCommands: readonly Command[] = [
  dashboard,
  describe,
  proxyConfig,
  proxyStatus,
  rollout,
  scope,
  wait,
];

/** The verbs that `istioctl` has below `experimental`, for the habits of its users. */
export const experimental: Command = {
  name: "experimental",
  aliases: ["x"],
  hidden: true,
  summary: "The verbs that istioctl has below experimental",
  description: "The same commands are at the top.",
  commands: [describe, precheckCommand, proxyStatus, wait],
};
