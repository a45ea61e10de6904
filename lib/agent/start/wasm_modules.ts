/**
 * Wasm modules in an agent. Few agents have modules, so the code is loaded with the first extension configuration.
 *
 * Permissions: the permissions of `load_wasm.ts`.
 *
 * @module
 */
import type { Log, Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import type { OpenRewriter, ResponseRewriter } from "../relay/relay.ts";
import type { WasmInput, WasmModules } from "./load_wasm.ts";

/** The modules. Undefined: the settings leave modules to the proxy. */
export function wasmModules(
  input: WasmInput,
  parts: { readonly clock: Clock; readonly log: Log; readonly metrics: Metrics },
): WasmModules | undefined {
  if (!input.settings.MESH_AGENT_ENABLE_WASM_REMOTE_LOAD_CONVERSION) return undefined;
  let loaded: Promise<WasmModules> | undefined;
  let isStopped = false;
  const load = () =>
    loaded ??= import("./load_wasm.ts").then(({ loadedWasm }) => {
      const modules = loadedWasm(input, parts);
      if (isStopped) modules.stop();
      return modules;
    });
  return {
    open: lateRewriter(async () => (await load()).open, parts.log.scope("wasm")),
    stop() {
      isStopped = true;
      void loaded?.then((modules) => modules.stop(), () => {/* there is nothing to stop */});
    },
  };
}

/**
 * A rewriter that is loaded with its first response. If loading fails, responses go to the proxy unchanged, and the
 * proxy fetches modules itself.
 */
export function lateRewriter(load: () => Promise<OpenRewriter>, log: Logger): OpenRewriter {
  return (variant, target) => {
    let opened: Promise<ResponseRewriter | undefined> | undefined;
    let isClosed = false;
    const open = () =>
      load().then((open) => open(variant, target), (error: Error) => {
        log.error(`extension configurations go to the proxy as they come: ${error.message}`);
        return undefined;
      });
    return {
      take(bytes) {
        // Callbacks of one promise run in order.
        void (opened ??= open()).then((rewriter) => {
          if (isClosed) return;
          if (rewriter === undefined) target.send(bytes);
          else rewriter.take(bytes);
        });
      },
      asked(request) {
        void opened?.then((rewriter) => rewriter?.asked(request));
      },
      close() {
        isClosed = true;
        void opened?.then((rewriter) => rewriter?.close());
      },
    };
  };
}
