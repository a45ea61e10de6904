/**
 * Flags of the commands that ask the API of a cluster.
 *
 * @module
 */
import { boolFlag, durationFlag, intFlag, stringFlag, stringListFlag } from "../../lib/cli/flag.ts";
import { NEAR_SERVER } from "./server_flags.ts";

/** Namespaces whose content tells nothing about a mesh. */
const LEFT_OUT = ["kube-system", "kube-public", "kube-node-lease", "local-path-storage"];

/** The access to a cluster. */
const accessFlags = {
  orchconfig: stringFlag("", "orchestrator config file; without it KUBECONFIG, a pod's account or ~/.kube/config", {
    also: ["kubeconfig"],
    complete: "file",
  }),
  context: stringFlag("", "context of the config file; empty: the current context"),
};

export const precheckFlags = {
  ...accessFlags,
  revision: stringFlag("default", "revision that is to be installed", { short: "r" }),
  namespace: stringFlag("mesh-system", "namespace of the servers", { short: "n" }),
  server: stringFlag("", "address of a running server, whose proxies are compared: host:port of its debug pages"),
  cni: boolFlag("also check the nodes for the node's plugin"),
  output: stringFlag("text", "one of `text` or `json`", { short: "o", allowed: ["text", "json"] }),
};

export const bugReportFlags = {
  ...accessFlags,
  server: stringFlag(NEAR_SERVER, "address of the server: host:port of its debug pages; empty: none"),
  "monitoring-port": intFlag("uint16", 15014, "port of the metrics, on the host of --server"),
  "ctrlz-port": intFlag("uint16", 9876, "port of the pages of the server's process, on the host of --server"),
  cluster: boolFlag("also ask the API of the cluster: objects, events, nodes, logs", { value: true }),
  namespace: stringFlag("mesh-system", "namespace of the servers", { short: "n" }),
  include: stringListFlag([], "namespaces with proxies, objects, events and logs in the report; empty: all", {
    complete: "namespace",
  }),
  exclude: stringListFlag(LEFT_OUT, "namespaces without, unless --include names namespaces", {
    complete: "namespace",
  }),
  "max-proxies": intFlag("int32", 100, "most proxies whose configuration and logs are in the report"),
  "max-megabytes": intFlag("int32", 512, "most content, before it is compressed"),
  timeout: durationFlag("5m", "longest time in which parts are collected"),
  archive: stringFlag(
    "",
    "new file that is written; -: standard output; empty: one below /tmp with the time in its name",
    { complete: "file" },
  ),
};
