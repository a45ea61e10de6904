/**
 * Shows that redirection works, with real sockets: listens on the proxy's ports and connects to a port without a
 * listener. The listener answers only if the kernel redirected the connection.
 *
 * Must run as the proxy's user, because this user's connections over the loopback device to the workload are inbound to
 * the workload. Where the proxy has the ports already, as when a container is started again, the proxy's listener
 * cannot be asked. Then a connection to a port without a listener must be taken all the same.
 *
 * Permissions: net (the loopback addresses and this machine's own), sys (networkInterfaces).
 *
 * @module
 */
import { errorMessage } from "../kernel/text/error_message.ts";
import ipaddr from "ipaddr.js";
import { families, type Family } from "./model/names.ts";

/** The inputs of the check. */
export interface Probe {
  readonly proxyPort: number;
  readonly inboundPort: number;
  /** Dialled port, without a listener. */
  readonly probePort: number;
  /** IPv4 range of the loopback device without redirection. */
  readonly notRedirected: string;
  /** Time for each family, in milliseconds: rules may come while we wait. */
  readonly timeout: number;
}

/** Why a family's redirection does not work. Undefined: redirection works. */
export interface Verdict {
  readonly family: Family;
  readonly dialled: string;
  readonly failure: string | undefined;
  /** Used ports of the proxy. Their listener took the connection. */
  readonly inUse: readonly number[];
}

/** Every address of this machine. */
const any: Readonly<Record<Family, string>> = { 4: "0.0.0.0", 6: "::" };

/** Time between attempts, in milliseconds. */
const PERIOD = 200;

/** Listening addresses: redirected connections from this machine go to the loopback address. */
const loopback: Readonly<Record<Family, string>> = { 4: "127.0.0.1", 6: "::1" };

/** Dialled loopback address: no interface has the address, and the machine answers for it. */
const UNUSED_ADDRESS = "127.0.0.6";

/**
 * Addresses to dial, for each family with addresses. For IPv4 if no family has addresses.
 *
 * IPv4: a redirected loopback address, or otherwise an address of this machine. IPv6: an address of this machine,
 * because a connection to `::6` would come from `::6`, and connections from `::6` are never redirected.
 *
 * @param notRedirected IPv4 range of the loopback device.
 */
export function addressesToDial(
  interfaces: readonly Deno.NetworkInterfaceInfo[],
  notRedirected: string,
): Partial<Record<Family, string>> {
  const own = (kind: "IPv4" | "IPv6", local: RegExp) =>
    interfaces.find(({ family, address }) => family === kind && !local.test(address))?.address;
  const ipv6 = own("IPv6", /^(::|fe[89ab])/i);
  const ipv4 = own("IPv4", /^(127|169\.254)\./);
  const usesIpv4 = ipv4 !== undefined || ipv6 === undefined;
  const redirected = !ipaddr.IPv4.parse(UNUSED_ADDRESS).match(ipaddr.IPv4.parseCIDR(notRedirected));
  return {
    ...(usesIpv4 ? { 4: redirected || ipv4 === undefined ? UNUSED_ADDRESS : ipv4 } : {}),
    ...(ipv6 === undefined ? {} : { 6: ipv6 }),
  };
}

/** Tries every family with addresses, one after the other. */
export async function validateRedirection(probe: Probe): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  const hostnames = addressesToDial(Deno.networkInterfaces(), probe.notRedirected);
  for (const family of families) {
    const hostname = hostnames[family];
    if (hostname === undefined) continue;
    verdicts.push({ family, dialled: hostname, ...await tryFamily(probe, family, hostname) });
  }
  return verdicts;
}

async function tryFamily(probe: Probe, family: Family, hostname: string): Promise<Pick<Verdict, "failure" | "inUse">> {
  const word = crypto.randomUUID();
  const listeners: Deno.Listener[] = [];
  const inUse: number[] = [];
  try {
    for (const port of new Set([probe.proxyPort, probe.inboundPort])) {
      const listener = open(loopback[family], port);
      if (typeof listener === "string") return { failure: listener, inUse };
      if (listener === undefined) inUse.push(port);
      else {
        listeners.push(listener);
        answer(listener, `${word} ${port}`);
      }
    }
    if (!inUse.includes(probe.inboundPort)) {
      return { failure: await dialUntil(probe, hostname, `${word} ${probe.inboundPort}`), inUse };
    }
    const failure = isFree(any[family], probe.probePort)
      ? await dialUntil(probe, hostname, undefined)
      : `port ${probe.probePort} is in use, and so are the proxy's: the check needs one without a listener`;
    return { failure, inUse };
  } finally {
    listeners.forEach((listener) => listener.close());
  }
}

/** Opens a listener. Undefined: the port is in use. A text: why the listener cannot be opened. */
function open(hostname: string, port: number): Deno.Listener | string | undefined {
  try {
    return Deno.listen({ hostname, port });
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return undefined;
    if (error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.AddrNotAvailable) {
      return `cannot listen on ${hostname} port ${port}: ${error.message}`;
    }
    throw error;
  }
}

/** True when a port has no listener. */
function isFree(hostname: string, port: number): boolean {
  const listener = open(hostname, port);
  if (typeof listener === "object") listener.close();
  return listener !== undefined;
}

/** Answers every connection with a text, until the listener is closed. */
async function answer(listener: Deno.Listener, text: string): Promise<void> {
  for await (const conn of listener) {
    try {
      await conn.write(new TextEncoder().encode(text));
    } catch {
      // The dialler has disconnected, and asks again.
    } finally {
      conn.close();
    }
  }
}

/** Dials until the expected answer arrives, or, without an expectation, until the connection is accepted. */
async function dialUntil(probe: Probe, hostname: string, expected: string | undefined): Promise<string | undefined> {
  const end = performance.now() + probe.timeout;
  let last = "";
  while (true) {
    const got = await dial(hostname, probe.probePort, Math.max(1, end - performance.now()), expected !== undefined);
    if (got.failure === undefined && got.answer === expected) return undefined;
    last = got.failure ?? `the answer ${JSON.stringify(got.answer)} of another listener`;
    if (performance.now() + PERIOD > end) break;
    await new Promise((resolve) => setTimeout(resolve, PERIOD));
  }
  const within = `within ${probe.timeout} ms`;
  return `connections to ${hostname} port ${probe.probePort} do not reach port ${probe.inboundPort} ${within}: ${last}`;
}

/** Connects, and reads the greeting if `listens`, within a time. */
async function dial(
  hostname: string,
  port: number,
  timeout: number,
  listens: boolean,
): Promise<{ readonly answer?: string; readonly failure?: string }> {
  const signal = AbortSignal.timeout(timeout);
  try {
    using conn = await Deno.connect({ hostname, port, signal });
    if (!listens) return {};
    // Closing a connection does not end a waiting read (Deno 2.8.3), so the read of a silent listener is left behind.
    const late = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => late.reject(signal.reason), { once: true });
    const buffer = new Uint8Array(200);
    const length = await Promise.race([conn.read(buffer), late.promise]);
    return { answer: new TextDecoder().decode(buffer.subarray(0, length ?? 0)) };
  } catch (error) {
    if (signal.aborted) return { failure: "no answer in time" };
    return { failure: errorMessage(error) };
  }
}
