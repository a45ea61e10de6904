/**
 * A program that fetches a module into a folder like an agent, and prints the proxy's view of the module. Arguments:
 * the module's address, the folder.
 * @module
 */
import { wasmModules } from "../../../lib/agent/start/wasm_modules.ts";
import { createLog, defaultLogOptions } from "../../../lib/kernel/log/log.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { agentInput } from "./agent_input.ts";
import { extensionOf, response } from "./wasm_messages.ts";

const [url = "", folder = ""] = Deno.args;
const input = agentInput(folder, { variables: Deno.env.toObject() });
const log = createLog(["wasm"], defaultLogOptions, { open: () => ({ write() {}, close() {} }) });
const parts = { clock: systemClock, log, metrics: createMetrics("pilot-agent") };
const modules = wasmModules({ ...input, paths: { ...input.paths, data: folder } }, parts)!;
const rewriter = modules.open("delta", {
  send(bytes) {
    console.log(new TextDecoder().decode(bytes).replace(/[^ -~]+/g, " "));
    rewriter.close();
    modules.stop();
  },
  refuse: (_, reason) => console.log(reason),
});
rewriter.take(
  response("delta", { version: "1", nonce: "a" }, [{ name: "f", config: extensionOf({ name: "f", url }) }]),
);
