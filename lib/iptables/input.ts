/**
 * Converts texts of flags and variables to checked values. All problems are reported at once, each with the input's
 * name, the value and the expectation.
 *
 * @module
 */
import { parseAccount } from "./accounts.ts";
import { parseRanges } from "./address.ts";
import type { DnsCapture, RedirectionConfig, TrafficSelection } from "./model/config.ts";
import { DNS_PORT, families, OUTBOUND_MARK } from "./model/names.ts";
import { type Input, InputError, parseNumber, RuleReader, STAR } from "./reader.ts";
import type { PortRange } from "./model/rule.ts";

export { type Input, InputError, type InputFinding } from "./reader.ts";

/** Inputs of redirection, as texts. Lists are comma separated; `*` stands for all. */
export interface RedirectionInputs {
  readonly proxyPort: Input;
  readonly inboundPort: Input;
  readonly tunnelPort: Input;
  readonly proxyUid: Input;
  readonly proxyGid: Input;
  readonly inboundMode: Input;
  readonly tproxyMark: Input;
  readonly tproxyTable: Input;
  readonly inboundPorts: Input;
  readonly inboundPortsExcluded: Input;
  readonly outboundPorts: Input;
  readonly outboundPortsExcluded: Input;
  readonly outboundRanges: Input;
  readonly outboundRangesExcluded: Input;
  readonly interfacesExcluded: Input;
  readonly virtualInterfaces: Input;
  readonly groups: Input;
  readonly groupsExcluded: Input;
  readonly loopback: Input;
  /** Name of the proxy's user, if no number is given. */
  readonly proxyUser: string;
  /** `host:port` of the agent's DNS server. Empty: the default. */
  readonly dnsAddress: Input;
  readonly captureDns: boolean;
  readonly captureAllDns: boolean;
  readonly dropInvalid: boolean;
}

/** The facts about the machine that inputs refer to. */
export interface Surroundings {
  /**
   * `/etc/passwd` and `/etc/group`, for names. Undefined if the workload's files cannot be seen: then only numbers are
   * allowed.
   */
  readonly passwd: string | undefined;
  readonly group: string | undefined;
  /** Addresses of the name servers in use. */
  readonly nameServers: readonly string[];
}

/** The proxy's user when the name is unknown: the user of the injected container. */
const DEFAULT_PROXY_UID = 1337;

/** The configuration from the inputs, and warnings about inputs that are not mistakes. */
export interface ReadInputs {
  readonly config: RedirectionConfig;
  readonly warnings: readonly string[];
}

/**
 * Reads the inputs.
 *
 * @throws {InputError} naming every input at fault.
 */
export function readInputs(inputs: RedirectionInputs, around: Surroundings): ReadInputs {
  const reader = new RuleReader();
  const { proxyUids, proxyGids } = readOwners(reader, inputs, around);
  const outboundPortsExcluded = reader.ports(inputs.outboundPortsExcluded);
  const config: RedirectionConfig = {
    proxyPort: reader.port(inputs.proxyPort),
    inboundPort: reader.port(inputs.inboundPort),
    tunnelPort: reader.port(inputs.tunnelPort),
    proxyUids,
    proxyGids,
    inboundMode: readMode(reader, inputs.inboundMode),
    ...readTproxy(reader, inputs),
    inboundPorts: reader.selection(
      inputs.inboundPorts,
      inputs.inboundPortsExcluded,
      (...input) => reader.ports(...input),
    ),
    outboundPorts: reader.ports(inputs.outboundPorts),
    outboundPortsExcluded,
    outboundRanges: readRanges(reader, inputs.outboundRanges, true),
    outboundRangesExcluded: readRanges(reader, inputs.outboundRangesExcluded, false).only,
    interfacesExcluded: reader.interfaces(inputs.interfacesExcluded),
    virtualInterfaces: reader.interfaces(inputs.virtualInterfaces),
    groups: readGroups(reader, inputs, around),
    loopback: { 4: readLoopback(reader, inputs.loopback), 6: "::1/128" },
    dns: readDns(reader, inputs, around, outboundPortsExcluded),
    dropInvalid: inputs.dropInvalid,
  };
  if (reader.problems.length > 0) throw new InputError(reader.problems);
  return { config, warnings: reader.warnings };
}

function readOwners(reader: RuleReader, inputs: RedirectionInputs, around: Surroundings) {
  const uid = (part: string) => parseAccount(part, around.passwd ?? "");
  const gid = (part: string) => parseAccount(part, around.group ?? "");
  const expectedUid = expectedAccount("user", "/etc/passwd", around.passwd);
  const given = reader.list(inputs.proxyUid, uid, expectedUid);
  // No list may be empty: without an exception for the proxy, the proxy's own traffic would return to the proxy
  // endlessly.
  const empty = (input: Input) => /^[\s,]*$/.test(input.value);
  const proxyUids = empty(inputs.proxyUid) ? [uid(inputs.proxyUser) ?? DEFAULT_PROXY_UID] : given;
  const gids = reader.list(inputs.proxyGid, gid, expectedAccount("group", "/etc/group", around.group));
  return { proxyUids, proxyGids: empty(inputs.proxyGid) ? proxyUids : gids };
}

function readMode(reader: RuleReader, input: Input): "REDIRECT" | "TPROXY" {
  if (input.value === "TPROXY" || input.value === "REDIRECT") return input.value;
  if (input.value !== "") reader.refuse(input, "REDIRECT or TPROXY");
  return "REDIRECT";
}

function readTproxy(reader: RuleReader, inputs: RedirectionInputs) {
  const tproxyMark = reader.number(inputs.tproxyMark, 1, 0xffffffff, "a mark from 1 to 4294967295");
  if (tproxyMark === OUTBOUND_MARK) {
    reader.refuse(
      inputs.tproxyMark,
      `a mark other than ${OUTBOUND_MARK}, which marks the outbound proxy's connections`,
    );
  }
  const expected = "a routing table from 1 to 4294967295 other than 253, 254 and 255, which are the system's";
  const tproxyTable = reader.number(inputs.tproxyTable, 1, 0xffffffff, expected);
  if (tproxyTable >= 253 && tproxyTable <= 255) reader.refuse(inputs.tproxyTable, expected);
  return { tproxyMark, tproxyTable };
}

function readRanges(reader: RuleReader, input: Input, star: boolean): RedirectionConfig["outboundRanges"] {
  if (star && input.value.trim() === "*") return { all: true, only: { 4: [], 6: [] } };
  const expected = `an address range such as 10.0.0.0/8 or fd00::/8${star ? STAR : ""}`;
  const bad: string[] = [];
  const only = parseRanges(reader.list(input, (part) => part, expected), (part) => void bad.push(part));
  reader.refuseParts(input, expected, bad);
  return { all: false, only };
}

/** The expectation for a user or group. */
function expectedAccount(what: string, file: string, database: string | undefined): string {
  return database === undefined
    ? `a ${what} by its number: names of the workload's ${file} are not known here`
    : `a ${what}: a number, or a name of ${file}`;
}

function readGroups(reader: RuleReader, inputs: RedirectionInputs, around: Surroundings): TrafficSelection<number> {
  const expected = expectedAccount("group", "/etc/group", around.group);
  const read = (input: Input, star = "") =>
    reader.list(input, (part) => parseAccount(part, around.group ?? ""), expected + star);
  return reader.selection(inputs.groups, inputs.groupsExcluded, read);
}

function readLoopback(reader: RuleReader, input: Input): string {
  const expected = "an IPv4 range within 127.0.0.0/8, such as 127.0.0.1/32";
  const [range, ...more] = parseRanges([input.value.trim()], () => {})[4];
  if (range !== undefined && more.length === 0 && /^127\..*\/([89]|[12]\d|3[0-2])$/.test(range)) return range;
  reader.refuse(input, expected);
  return "127.0.0.1/32";
}

function readDns(
  reader: RuleReader,
  inputs: RedirectionInputs,
  around: Surroundings,
  excluded: readonly PortRange[],
): DnsCapture | undefined {
  const { warnings } = reader;
  if (!inputs.captureDns) {
    if (inputs.captureAllDns) {
      warnings.push("all DNS is to be redirected, but DNS is not: that needs --redirect-dns too");
    }
    return undefined;
  }
  if (excluded.some(({ first, last }) => first <= 53 && last >= 53)) {
    warnings.push(`DNS is not redirected: port 53 is excluded by ${inputs.outboundPortsExcluded.name}`);
    return undefined;
  }
  const port = readDnsPort(reader, inputs.dnsAddress);
  if (inputs.captureAllDns) return { port, all: true };
  const ranges = parseRanges(around.nameServers, (part) => {
    warnings.push(`name server ${part} of /etc/resolv.conf is not an address; DNS to it is not redirected`);
  });
  const bare = (list: readonly string[]) => list.map((range) => range.replace(/\/\d+$/, ""));
  const servers = { 4: bare(ranges[4]), 6: bare(ranges[6]) };
  if (families.every((family) => servers[family].length === 0)) {
    warnings.push("DNS is not redirected: /etc/resolv.conf names no server; --capture-all-dns needs none");
    return undefined;
  }
  return { port, all: false, servers };
}

function readDnsPort(reader: RuleReader, input: Input): number {
  if (input.value.trim() === "") return DNS_PORT;
  const port = parseNumber(/:(\d{1,5})$/.exec(input.value.trim())?.[1] ?? "") ?? 0;
  if (port < 1 || port > 65535) {
    reader.refuse(input, "host:port, such as localhost:15053");
    return DNS_PORT;
  }
  if (port !== 53) return port;
  // An agent without the right to listen on port 53 listens on the default port. An agent with this right needs no
  // redirection.
  reader.warnings.push(`${input.name} says port 53, which needs no redirection; DNS is redirected to port ${DNS_PORT}`);
  return DNS_PORT;
}
