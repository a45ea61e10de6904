/** A program running until a signal, for the test of signals. */
import { stopOnSignals } from "../../lib/cli/startup.ts";
import { startKernel, untilStopped } from "../../lib/kernel/kernel.ts";

const kernel = startKernel("pilot-discovery", undefined, { stopDeadline: Number(Deno.args[1] ?? "10000") });
const [how, , limit = "600000"] = Deno.args;
stopOnSignals(kernel.drain, Number(limit));
if (how === "hang at the start") {
  console.log("ready");
  await new Promise(() => setInterval(() => {}, 1000));
}
kernel.stopper.add("store", () => console.log("store ends"));
kernel.stopper.add("server", () => {
  console.log("server ends");
  return how === "hang" ? new Promise(() => setInterval(() => {}, 1000)) : undefined;
});
console.log("ready");
Deno.exit(await untilStopped(kernel));
