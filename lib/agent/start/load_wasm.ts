/**
 * The parts that fetch and keep Wasm modules, and rewrite configurations with such modules. Loaded with the first such
 * configuration.
 *
 * Permissions: net (where modules are), read, write (the folder for what Envoy writes about itself), read (Docker's
 * configuration).
 *
 * @module
 */
import { readRegularText } from "../../kernel/files/regular.ts";
import type { Log } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import type { OpenRewriter } from "../relay/relay.ts";
import { WasmCache } from "../wasm/cache/wasm_cache.ts";
import type { DownloadRules } from "../wasm/fetch/download.ts";
import type { FetchedModule, ModuleRequest } from "../wasm/fetch/fetch_module.ts";
import { OCI } from "../wasm/fetch/image_name.ts";
import { systemRoots } from "../../sockets/fetch/system_roots.ts";
import { FIPS_TLS_POLICY } from "../../sockets/listen/tls_policy.ts";
import { wasmRewriters } from "../wasm/wasm_rewriter.ts";
import type { AgentInput } from "./agent_input.ts";
import { commaList } from "../../kernel/text/comma_list.ts";

/** The part of an agent's input that concerns Wasm modules. */
export type WasmInput = Pick<AgentInput, "settings" | "variables" | "paths" | "proxyUser">;

/** Modules of an agent. */
export interface WasmModules {
  /** Rewrites extension configurations. */
  readonly open: OpenRewriter;
  /** Ends fetches under way; files stay. */
  stop(): void;
}

/** The modules. */
export function loadedWasm(
  { settings, variables, paths, proxyUser }: WasmInput,
  { clock, log, metrics }: { readonly clock: Clock; readonly log: Log; readonly metrics: Metrics },
): WasmModules {
  const logger = log.scope("wasm");
  const rules = {
    timeout: settings.WASM_HTTP_REQUEST_TIMEOUT,
    roots: () => systemRoots(variables["SSL_CERT_FILE"] ?? ""),
    ...(settings.COMPLIANCE_POLICY === "" ? {} : { policy: FIPS_TLS_POLICY }),
    insecure: new Set(commaList(settings.WASM_INSECURE_REGISTRIES)),
  };
  const cache = new WasmCache({
    folder: `${paths.data}/wasm`,
    owner: proxyUser,
    fetch: (request, signal) => fetchWith(rules, request, variables, signal),
    attempts: settings.WASM_HTTP_REQUEST_MAX_RETRIES,
    expiry: settings.WASM_MODULE_EXPIRY,
    purgeInterval: settings.WASM_PURGE_INTERVAL,
    ...{ clock, metrics, log: logger },
  });
  const open = wasmRewriters({ file: (wanted) => cache.get(wanted), clock, metrics, log: logger });
  return { open, stop: () => cache.stop() };
}

/** The modules that fetch are loaded with the first Wasm module: most agents have none. */
async function fetchWith(
  rules: DownloadRules,
  { url, pullSecret }: ModuleRequest,
  variables: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<FetchedModule> {
  const { fetchModule } = await import("../wasm/fetch/fetch_module.ts");
  const secret = pullSecret ?? (url.startsWith(OCI) ? await dockerConfiguration(variables) : undefined);
  return await fetchModule(rules, { url, pullSecret: secret }, signal);
}

/** Docker's own configuration, where a module comes without credentials; undefined: there is none. */
async function dockerConfiguration({ DOCKER_CONFIG = "", HOME = "" }: Readonly<Record<string, string>>) {
  const folder = DOCKER_CONFIG || (HOME === "" ? "" : `${HOME}/.docker`);
  if (folder === "") return undefined;
  return await readRegularText(`${folder}/config.json`).catch(() => undefined);
}
