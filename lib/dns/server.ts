/**
 * The workload's DNS server: answers from the mesh's name table, and asks the workload's name servers for other names.
 *
 * Permissions: net (DNS_PROXY_ADDR, the name servers), read (resolv.conf).
 *
 * @module
 */
import { errorMessage } from "../kernel/text/error_message.ts";
import { factsOf, readRegularText } from "../kernel/files/regular.ts";
import type { Logger } from "../kernel/log/log.ts";
import type { Metrics } from "../kernel/metrics/registry.ts";
import type { Settings } from "../kernel/settings/catalogue.ts";
import { type Clock, systemClock } from "../kernel/time/clock.ts";
import { listenAddresses, type ListenEndpoint, listenPlan } from "./listen_plan.ts";
import { parseResolvConf, type ResolvConf } from "./resolv_conf.ts";
import { Responder } from "./responder.ts";
import { listenTcp } from "./tcp_server.ts";
import { buildLookupTable } from "./table/lookup.ts";
import type { NameTable, TableFinding } from "./table/types.ts";
import { type Listening, listenUdp } from "./udp_server.ts";
import { Forwarder } from "./upstream/forwarder.ts";
import { TcpTransport } from "./upstream/tcp.ts";
import { UdpTransport } from "./upstream/udp.ts";

/** Interval of reading `resolv.conf` again, ms. The file changes when a machine changes networks. */
const REREAD_MS = 5000;

/** The options of the server. */
export interface DnsServerOptions {
  readonly settings: Pick<Settings, "DNS_PROXY_ADDR" | "DNS_FORWARD_PARALLEL">;
  /** Namespace of the workload. */
  readonly namespace: string;
  /** Domain of the workload, such as `ns1.svc.cluster.local`. */
  readonly domain: string;
  /** Whether the process runs as root, and so may listen on port 53. */
  readonly root: boolean;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Default: the machine's. */
  readonly clock?: Clock;
  /** Default: `/etc/resolv.conf`. */
  readonly resolvConf?: string;
  /**
   * The file for a server that listens on port 53, if the file exists: `resolv.conf` then names this server. Default:
   * `/var/lib/mesh/resolv.conf`.
   */
  readonly resolvConfBehind?: string;
  /** Port of the name servers; default 53. */
  readonly upstreamPort?: number;
  /** Numbers from 0 to below 1, for the order of addresses and servers; default `Math.random`. */
  readonly random?: () => number;
}

/** A running server. */
export interface DnsServer {
  /** The listening addresses. */
  readonly listening: readonly { readonly transport: "udp" | "tcp"; readonly address: ListenEndpoint }[];
  /** Whether there is a table. */
  readonly ready: boolean;
  /** The latest table as received. Undefined before the first table. */
  readonly nameTable: NameTable | undefined;
  /** Answers by this table from the next question on. Returns the number of names, and the left-out entries. */
  update(table: NameTable): { readonly names: number; readonly findings: readonly TableFinding[] };
  /** Reads `resolv.conf` now instead of within {@link REREAD_MS}. */
  reread(): Promise<void>;
  /** Stops answering. Resolves when the addresses are free. */
  close(): Promise<void>;
}

/**
 * Starts the server. Until the first table the server answers SERVFAIL, so that clients ask again instead of believing
 * a wrong "no such name". On port 53 the server asks upstream instead, because no other server would answer the
 * machine.
 * @throws {Error} When DNS_PROXY_ADDR is wrong or cannot be listened on, or `resolv.conf` cannot be read.
 */
export async function startDnsServer(options: DnsServerOptions): Promise<DnsServer> {
  const { settings, log } = options;
  const plan = listenPlan(settings.DNS_PROXY_ADDR, options.root);
  if (plan.warning !== undefined) log.error(plan.warning);
  const path = await resolvConfPath(options, plan.direct);
  const clock = options.clock ?? systemClock;
  const random = options.random ?? Math.random;
  const forwarder = new Forwarder({
    udp: new UdpTransport(clock, log),
    tcp: new TcpTransport(),
    parallel: settings.DNS_FORWARD_PARALLEL,
    clock,
    log,
    metrics: options.metrics,
    random,
  });
  const responder = new Responder(forwarder, plan.direct ? "forward" : "fail", random, log, options.metrics);
  const text = await readRegularText(path);
  const listening = await listenAll(listenAddresses(plan.address, parseResolvConf(text).servers), responder, clock);
  const server = new SocketServer(options, path, clock, forwarder, responder, listening);
  server.use(text);
  server.watch();
  return server;
}

/** The file with the upstream servers. */
async function resolvConfPath(options: DnsServerOptions, direct: boolean): Promise<string> {
  const path = options.resolvConf ?? "/etc/resolv.conf";
  if (!direct) return path;
  const behind = options.resolvConfBehind ?? "/var/lib/mesh/resolv.conf";
  try {
    await factsOf(behind);
    return behind;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return path;
    throw error;
  }
}

/** Listens on all addresses, each over UDP and TCP with the same port, or on none. */
async function listenAll(
  addresses: readonly ListenEndpoint[],
  responder: Responder,
  clock: Clock,
): Promise<Listening[]> {
  const listening: Listening[] = [];
  try {
    for (const address of addresses) listening.push(...await listenBoth(address, responder, clock));
    return listening;
  } catch (error) {
    await Promise.all(listening.map((one) => one.close()));
    const cause = errorMessage(error);
    const tried = addresses.map(({ hostname, port }) => `${hostname} port ${port}`).join(", ");
    throw new Error(`DNS_PROXY_ADDR: cannot listen on ${tried}: ${cause}`, { cause: error });
  }
}

/**
 * Listens over UDP and TCP on the same port. A port that the system chose for UDP may be in use for TCP: then another
 * port is tried.
 */
async function listenBoth(address: ListenEndpoint, responder: Responder, clock: Clock): Promise<Listening[]> {
  for (let tries = 10;; tries--) {
    const udp = listenUdp(address, responder);
    try {
      return [udp, await listenTcp(udp.address, responder, clock)];
    } catch (error) {
      await udp.close();
      if (address.port !== 0 || tries === 0 || (error as { code?: unknown }).code !== "EADDRINUSE") throw error;
    }
  }
}

class SocketServer implements DnsServer {
  nameTable: NameTable | undefined;
  #text: string | undefined;
  #conf: ResolvConf = { servers: [], search: [], findings: [] };
  #stopWatching: () => void = () => {};
  #closed = false;

  readonly #options: DnsServerOptions;
  readonly #path: string;
  readonly #clock: Clock;
  readonly #forwarder: Forwarder;
  readonly #responder: Responder;

  constructor(
    options: DnsServerOptions,
    path: string,
    clock: Clock,
    forwarder: Forwarder,
    responder: Responder,
    readonly listening: readonly Listening[],
  ) {
    this.#options = options;
    this.#path = path;
    this.#clock = clock;
    this.#forwarder = forwarder;
    this.#responder = responder;
  }

  get ready(): boolean {
    return this.nameTable !== undefined;
  }

  update(table: NameTable): { names: number; findings: readonly TableFinding[] } {
    const { namespace, domain } = this.#options;
    const built = buildLookupTable(
      table,
      { namespace, domain, search: this.#conf.search },
      this.#responder.table,
    );
    this.#responder.table = built;
    this.nameTable = table;
    this.#options.log.debug("name table", { names: built.size, leftOut: built.findings.length });
    return { names: built.size, findings: built.findings };
  }

  /** Takes over the servers and search domains of `resolv.conf`. */
  use(text: string): void {
    if (text === this.#text) return;
    this.#text = text;
    const before = this.#conf.search;
    this.#conf = parseResolvConf(text);
    const port = this.#options.upstreamPort ?? 53;
    const servers = this.#conf.servers.map((hostname) => ({ hostname, port })).filter((s) => !this.#isSelf(s));
    this.#forwarder.use(servers);
    const { log } = this.#options;
    for (const finding of this.#conf.findings) log.warn(`${this.#path}: ${finding}`);
    if (servers.length === 0) log.warn(`${this.#path} names no name server: only names of the mesh can be resolved`);
    log.debug("name servers", { servers: this.#conf.servers, search: this.#conf.search });
    if (this.nameTable !== undefined && before[0] !== this.#conf.search[0]) this.update(this.nameTable);
  }

  /** Whether a name server is this server. Forwarding to this server would never end. */
  #isSelf(server: ListenEndpoint): boolean {
    return this.listening.some(({ address: { hostname, port } }) => {
      const any = hostname === "0.0.0.0" ? /^127\./ : hostname === "::" ? /^(127\.|::1$)/ : undefined;
      return port === server.port && (hostname === server.hostname || any?.test(server.hostname) === true);
    });
  }

  async reread(): Promise<void> {
    try {
      const text = await readRegularText(this.#path);
      if (!this.#closed) this.use(text);
    } catch (error) {
      // The file may be about to be rewritten. Its earlier content stays in force.
      this.#options.log.debug(`${this.#path} cannot be read`, { error });
    }
  }

  watch(): void {
    this.#stopWatching = this.#clock.after(REREAD_MS, () => {
      void this.reread().then(() => {
        if (!this.#closed) this.watch();
      });
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#stopWatching();
    // Connections end first, so that a dropped question gets no answer.
    const closed = Promise.all(this.listening.map((one) => one.close()));
    this.#forwarder.close();
    await closed;
  }
}
