/**
 * Connections through redirection, from within a network namespace. A process cannot enter one, so the doctor runs this in
 * a process of its own there, as root: in the trial root is the proxy's user.
 *
 * Permissions: net (loopback addresses and this machine's own), sys (networkInterfaces).
 *
 * @module
 */
import { validateRedirection } from "../../iptables/validate.ts";
import type { PodRedirection } from "../plugin/redirection.ts";

/** Port that is dialled, without a listener: that of the validation container. */
const PROBE_PORT = 15002;

/** Time for each family, milliseconds. */
const TIME_MS = 5000;

/** Longest life of the process that dials, milliseconds. */
const PROCESS_MS = 20_000;

/** Redirection whose proxy is root, so that a process of the doctor's can be it. */
export function forRoot(wanted: PodRedirection): PodRedirection {
  return { ...wanted, config: { ...wanted.config, proxyUids: [0], proxyGids: [0] } };
}

/** Dials through the redirection of this network namespace; failures, a line each. */
export async function probeHere({ config }: PodRedirection): Promise<string[]> {
  const verdicts = await validateRedirection({
    proxyPort: config.proxyPort,
    inboundPort: config.inboundPort,
    probePort: PROBE_PORT,
    notRedirected: config.loopback[4],
    timeout: TIME_MS,
  });
  return verdicts.flatMap(({ family, failure }) => failure === undefined ? [] : [`IPv${family}: ${failure}`]);
}

/**
 * The same by a process in another network namespace.
 *
 * @param self Command line of this program that ends with {@link probeHere}, its lines on standard output.
 */
export async function probeIn(netns: string, self: readonly string[]): Promise<string[]> {
  const { success, stdout, stderr } = await new Deno.Command("nsenter", {
    args: [`--net=${netns}`, "--", ...self],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.timeout(PROCESS_MS),
  }).output();
  const text = new TextDecoder();
  const lines = text.decode(stdout).split("\n").filter((line) => line !== "");
  return success || lines.length > 0 ? lines : [`the probe could not be run: ${text.decode(stderr).trim()}`];
}
