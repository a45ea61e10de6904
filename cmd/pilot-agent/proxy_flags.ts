/**
 * Flags of `pilot-agent proxy`.
 *
 * @module
 */
import { boolFlag, type FlagValues, intFlag, stringFlag } from "../../lib/cli/flag.ts";
import { proxyLogLevels } from "../../lib/kernel/log/proxy_levels.ts";

/** Flags of the command itself. */
export const proxyFlags = {
  concurrency: intFlag("int", 0, "worker threads of the proxy; 0: by CPU limit"),
  domain: stringFlag("", "DNS suffix of the workload; empty: ${POD_NAMESPACE}.svc.cluster.local"),
  meshConfig: stringFlag(
    "./etc/mesh/config/mesh",
    "mesh configuration file; defaults hold when it is absent; $PROXY_CONFIG and the annotation proxy.mesh.io/config go over it",
    { complete: "file" },
  ),
  outlierLogPath: stringFlag("", "file in which the proxy logs ejected endpoints", { complete: "file" }),
  profiling: boolFlag("serve profiles under /debug/pprof/"),
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
  serviceCluster: stringFlag("mesh-proxy", "service to which the proxy belongs"),
  stsPort: intFlag("int", 0, "port of the security token service; 0: none"),
  templateFile: stringFlag("", "template of the proxy's bootstrap, where no setting names one", { complete: "file" }),
  tokenManagerPlugin: stringFlag("", "provider of tokens for that service: GoogleTokenExchange", {
    complete: ["GoogleTokenExchange"],
  }),
};

/** Their values. */
export type ProxyFlagValues = FlagValues<typeof proxyFlags>;
