/**
 * Connections through redirection, from within a network namespace. The doctor cannot enter the namespace, and starts
 * another process there. That process runs as root, so during the trial root counts as the proxy's user.
 *
 * Permissions: net (loopback addresses, this machine's own, pods), sys (networkInterfaces).
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import { validateRedirection } from "../../iptables/validate.ts";
import type { DialledPod } from "../ambient/redirection.ts";
import type { PodRedirection } from "../plugin/redirection.ts";

/** Dialled port, without a listener: the port of the validation container. */
const PROBE_PORT = 15002;

/** Time for each family, milliseconds. */
const TIME_MS = 5000;

/** Longest life of the dialling process, milliseconds. */
const PROCESS_MS = 20_000;

/** Redirection with root as the proxy's user, so that the doctor's process can act as the proxy. */
export function forRoot(wanted: PodRedirection): PodRedirection {
  return { ...wanted, config: { ...wanted.config, proxyUids: [0], proxyGids: [0] } };
}

/** Dials through the redirection of this network namespace. Returns a line for each failure. */
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

/** Time for a connection to a pod, milliseconds. */
const DIAL_MS = 3000;

/** Dials a pod's addresses from this network namespace, as the node's probes do. */
export async function dialPod(addresses: readonly string[], port = PROBE_PORT): Promise<DialledPod[]> {
  return await Promise.all(addresses.map(async (address): Promise<DialledPod> => {
    try {
      using _conn = await Deno.connect({ hostname: address, port, signal: AbortSignal.timeout(DIAL_MS) });
      return { address, outcome: "connected", why: "" };
    } catch (error) {
      const why = errorMessage(error);
      return { address, outcome: error instanceof Deno.errors.ConnectionRefused ? "refused" : "unanswered", why };
    }
  }));
}

/**
 * Dials by a process in another network namespace.
 * @param self Command line of this program that calls {@link probeHere} and prints its lines on standard output.
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

/** Dials a pod's addresses by a process in another network namespace. @param self command line of this program */
export async function dialPodIn(
  netns: string,
  self: readonly string[],
  addresses: readonly string[],
): Promise<readonly DialledPod[]> {
  if (addresses.length === 0) return [];
  const [line = ""] = await probeIn(netns, [...self, "doctor", `--dial=${addresses.join(",")}`]);
  try {
    return JSON.parse(line);
  } catch {
    return addresses.map((address) => ({ address, outcome: "unanswered", why: line }));
  }
}
