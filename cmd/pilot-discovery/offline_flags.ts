/**
 * Flags of the commands on files, without a server.
 *
 * @module
 */
import { boolFlag, type FlagValues, intFlag, stringArrayFlag, stringFlag, stringListFlag } from "../../lib/cli/flag.ts";

/** How a mesh is made of files: as `discovery` would. */
export const meshFlags = {
  domain: stringFlag("cluster.local", "DNS suffix of services"),
  meshConfig: stringFlag("", "mesh configuration file; without one the defaults hold", { complete: "file" }),
  registries: stringListFlag([], "File: services of the manifests among the files are part of the mesh", {
    allowed: ["File"],
  }),
};

/** Values of the flags for a mesh. */
export type MeshFlagValues = FlagValues<typeof meshFlags>;

export const translateFlags = {
  ...meshFlags,
  node: stringFlag("", "the proxy: namespace/name of a workload, its IP address, or a node id", {
    complete: "workload",
  }),
  type: stringListFlag([], "types of resources; without it all", {
    allowed: ["cds", "eds", "lds", "rds", "sds", "ecds"],
  }),
  output: stringFlag("yaml", "one of `json`, `yaml` or `bootstrap`, with which an Envoy runs without a server", {
    short: "o",
    allowed: ["json", "yaml", "bootstrap"],
  }),
  metadata: stringFlag(
    "",
    "node metadata as a JSON object, beside that of the workload: INTERCEPTION_MODE and others",
  ),
  "admin-port": intFlag("uint16", 15000, "port of Envoy's admin page in a bootstrap; 0: any that is free"),
};

export const explainFlags = {
  ...meshFlags,
  server: stringFlag(
    "",
    "address of a running server, whose connected proxies are meant: host:port of its debug pages",
  ),
  from: stringFlag("", "the client: namespace/name of a workload, its IP address, or a node id", {
    complete: "workload",
  }),
  to: stringFlag("", "a URL (http, https, grpc, tcp, tls), or host:port"),
  method: stringFlag("GET", "method of the request"),
  header: stringArrayFlag([], "a header of the request, `name: value`; may be repeated"),
  all: boolFlag("where requests are shared out by weights, every way in full; without it the largest share"),
  output: stringFlag("text", "one of `text` or `json`", { short: "o", allowed: ["text", "json"] }),
};

export const checkFlags = {
  ...meshFlags,
  "assume-services": boolFlag("take services of the orchestrator to exist: their manifests are elsewhere"),
  baseline: stringFlag("", "file of findings that are known: only others count", { complete: "file" }),
  "fail-on": stringFlag("error", "least severity that makes the exit code 1", {
    allowed: ["error", "warning", "info"],
  }),
  output: stringFlag("text", "one of `text`, `json` or `sarif`", { short: "o", allowed: ["text", "json", "sarif"] }),
  suppress: stringArrayFlag(
    [],
    "a code to leave out, `MSH0101` or `IST0101`, or of some objects: `MSH0101=VirtualService/shop/*`; may be repeated",
    {
      short: "S",
    },
  ),
  whole: boolFlag("the texts have all of the mesh: what they lack does not exist, which is an error then"),
  "write-baseline": boolFlag("print the findings as a baseline, and end with 0"),
};

export const diffFlags = {
  ...meshFlags,
  node: stringArrayFlag(
    [],
    "a proxy to compare, as `namespace/name`, IP address or node id; may be repeated; default: all",
    { complete: "workload" },
  ),
  output: stringFlag("text", "one of `text` or `json`", { short: "o", allowed: ["text", "json"] }),
};

export const sizeFlags = {
  services: intFlag("int32", 0, "services of the mesh; required"),
  proxies: intFlag("int32", 0, "proxies of the mesh, pods with a sidecar and gateways; required"),
  "changes-per-minute": intFlag("int32", 10, "changes of configuration and of endpoints in a minute"),
  replicas: intFlag("int32", 0, "replicas of the server; 0: as many as the answer finds right"),
  output: stringFlag("text", "one of `text` or `json`", { short: "o", allowed: ["text", "json"] }),
};
