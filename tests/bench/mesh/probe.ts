/**
 * Runs inside the server, before its main module (`--preload`). Records the greatest lateness of a 50 ms timer, and the
 * CPU time of the process. Each line on standard input requests both and restarts the record.
 *
 * @module
 */
import process from "node:process";
import { PROBE_PREFIX, type ProbeAnswer } from "./probe_protocol.ts";
import { WITHOUT_ANALYSIS, withoutAnalysis } from "./without_analysis.ts";

/** Milliseconds. A timer of 10 ms costs 16 ms of CPU a second, in an edit's window of two seconds as much as the edit. */
const PERIOD = 50;

function startProbe(): void {
  let worst = 0;
  let due = performance.now() + PERIOD;
  let reading = false;
  const lateness = () => Math.max(worst, performance.now() - due);
  const read = async () => {
    for await (const _ of Deno.stdin.readable) {
      const { user, system } = process.cpuUsage();
      // An ongoing delay counts up to now.
      const answer: ProbeAnswer = { delay: lateness(), cpu: (user + system) / 1e6 };
      console.log(PROBE_PREFIX + JSON.stringify(answer));
      worst = 0;
    }
  };
  // The runtime waits until a preloaded module has nothing to do any more, so reading begins with the first tick.
  const timer = setInterval(() => {
    worst = lateness();
    due = performance.now() + PERIOD;
    if (reading) return;
    reading = true;
    void read();
  }, PERIOD);
  Deno.unrefTimer(timer);
}

const unanalyzed = Deno.env.get(WITHOUT_ANALYSIS);
if (unanalyzed !== undefined) await withoutAnalysis(unanalyzed);
startProbe();
