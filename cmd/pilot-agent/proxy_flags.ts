/**
 * Flags of `pilot-agent proxy`.
 *
 * @module
 */
import { boolFlag, type FlagValues, intFlag, stringFlag } from "../../lib/cli/flag.ts";
import { option, orNone } from "../../lib/cli/option.ts";
import { proxyLogLevels } from "../../lib/kernel/log/proxy_levels.ts";

/** Two flags for a single option: levels of the proxy's log. */
const levelFlags = {
  proxyComponentLogLevel: stringFlag("", "levels of the proxy's components; deprecated: say it in --proxyLogLevel", {
    commas: true,
  }),
  proxyLogLevel: stringFlag(
    "warning",
    `level at which the proxy starts, one of ${
      proxyLogLevels.join(", ")
    }; levels of components may follow: info,misc:error,upstream:debug`,
    { commas: true, complete: proxyLogLevels },
  ),
};

/** The other flags with their options. */
export const proxyRows = {
  concurrency: option("concurrency", intFlag("int", 0, "worker threads of the proxy; 0: by CPU limit"), {
    check: { good: (threads) => threads >= 0, expected: "0 or more" },
  }),
  domain: option("domain", stringFlag("", "DNS suffix of the workload; empty: ${POD_NAMESPACE}.svc.cluster.local")),
  meshConfig: option(
    "meshConfig",
    stringFlag(
      "./etc/mesh/config/mesh",
      "mesh configuration file; defaults hold when it is absent; $PROXY_CONFIG and the annotation proxy.mesh.io/config go over it",
      { complete: "file" },
    ),
  ),
  outlierLogPath: option(
    "outlierLogPath",
    stringFlag("", "file in which the proxy logs ejected endpoints", { complete: "file" }),
    { read: orNone },
  ),
  profiling: option("profiling", boolFlag("serve profiles under /debug/pprof/")),
  serviceCluster: option("serviceCluster", stringFlag("mesh-proxy", "service to which the proxy belongs")),
  stsPort: option("stsPort", intFlag("int", 0, "port of the security token service; 0: none"), {
    check: {
      good: (port) => port >= 0 && port <= 65535,
      expected: "a port from 0 to 65535",
    },
  }),
  templateFile: option(
    "templateFile",
    stringFlag("", "template of the proxy's bootstrap, where no setting names one", { complete: "file" }),
    { read: orNone },
  ),
  tokenManagerPlugin: option(
    "tokenManagerPlugin",
    stringFlag("", "provider of tokens for that service: GoogleTokenExchange", {
      complete: ["GoogleTokenExchange"],
    }),
    { read: orNone },
  ),
};

/** The command's own flags. */
export const proxyFlags = { ...proxyRows, ...levelFlags };

/** Values of the command's flags. */
export type ProxyFlagValues = FlagValues<typeof proxyFlags>;
