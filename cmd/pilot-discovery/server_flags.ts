/**
 * Flags of the commands that ask a running server or a running proxy.
 *
 * @module
 */
import { boolFlag, durationFlag, stringArrayFlag, stringFlag } from "../../lib/cli/flag.ts";

/** Address of a server's debug pages on the same machine. */
export const NEAR_SERVER = "127.0.0.1:8080";

export const serverFlags = {
  server: stringFlag(NEAR_SERVER, "address of the server: host:port of its debug pages"),
};

const outputFlags = {
  output: stringFlag("text", "one of `text` or `json`", { short: "o", allowed: ["text", "json"] }),
};

export const proxyStatusFlags = {
  ...outputFlags,
  server: stringArrayFlag(
    [NEAR_SERVER],
    "address of a server: host:port of its debug pages; may be repeated, because a server knows only its own proxies",
  ),
  namespace: stringFlag("", "only proxies of this namespace", { short: "n", complete: "namespace" }),
};

/** Where the configuration of a proxy is read. */
const sourceFlags = {
  ...outputFlags,
  ...serverFlags,
  file: stringFlag("", "file of Envoy's page /config_dump instead of a server; -: standard input", {
    short: "f",
    complete: "file",
  }),
  admin: stringFlag("", "address of the proxy's own admin port instead of a server: host:port"),
};

export const proxyClustersFlags = {
  ...sourceFlags,
  fqdn: stringFlag("", "only clusters of this host"),
  port: stringFlag("", "only clusters of this port"),
  subset: stringFlag("", "only clusters of this subset"),
  direction: stringFlag("", "only clusters of this direction", { allowed: ["inbound", "outbound"] }),
};

export const proxyListenersFlags = {
  ...sourceFlags,
  address: stringFlag("", "only listeners of this address"),
  port: stringFlag("", "only listeners of this port"),
  type: stringFlag("", "only filter chains of this type", { allowed: ["HTTP", "TCP", "UNKNOWN"] }),
};

export const proxyRoutesFlags = { ...sourceFlags, name: stringFlag("", "only the route configuration of this name") };

export const proxyEndpointsFlags = {
  ...sourceFlags,
  address: stringFlag("", "only endpoints of this address"),
  port: stringFlag("", "only endpoints of this port"),
  cluster: stringFlag("", "only endpoints of this cluster"),
  status: stringFlag("", "only endpoints of this status", {
    allowed: ["healthy", "unhealthy", "draining", "degraded"],
  }),
};

export const proxySecretsFlags = sourceFlags;

export const proxyBootstrapFlags = {
  output: stringFlag("yaml", "one of `json` or `yaml`", { short: "o", allowed: ["json", "yaml"] }),
  file: sourceFlags.file,
  admin: sourceFlags.admin,
};

export const waitFlags = {
  ...outputFlags,
  ...serverFlags,
  for: stringFlag("distribution", "the state that is awaited: in force on all proxies, or gone from all", {
    allowed: ["distribution", "delete"],
  }),
  timeout: durationFlag("30s", "longest wait, at most 300s"),
};

export const scopeFlags = { ...outputFlags, ...serverFlags };

export const rolloutFlags = { ...outputFlags, ...serverFlags };

export const dashboardFlags = serverFlags;

export const proxyLogFlags = {
  admin: stringFlag("127.0.0.1:15000", "address of the proxy's admin port: host:port"),
  level: stringFlag("", "a level for all loggers, or `logger:level`, several with commas between them"),
  reset: boolFlag("set all loggers to warning, the level at the start", { short: "r" }),
};
