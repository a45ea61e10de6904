/**
 * The commands `proxy-config`: the resources of a proxy as tables, from a server, a file or the proxy itself.
 *
 * Permissions: net (the address of the server or of the proxy), read (the file).
 *
 * @module
 */
import { errorMessage } from "../../lib/kernel/text/error_message.ts";
import { stringify } from "yaml";
import { type Invocation, UsageError } from "../../lib/cli/command.ts";
import type { FlagSet } from "../../lib/cli/flag.ts";
import { columns } from "../../lib/cli/terminal/layout.ts";
import { safeText } from "../../lib/cli/terminal/style.ts";
import { readRegularText } from "../../lib/kernel/files/regular.ts";
import { clusterTable } from "../../lib/offline/tables/clusters.ts";
import { type Dump, readDump } from "../../lib/offline/tables/dump.ts";
import { endpointTable, isClustersPage, liveEndpointTable } from "../../lib/offline/tables/endpoints.ts";
import { listenerTable } from "../../lib/offline/tables/listeners.ts";
import { routeTable } from "../../lib/offline/tables/routes.ts";
import { secretTable } from "../../lib/offline/tables/secrets.ts";
import { chosenRows, type DumpTable } from "../../lib/offline/tables/table.ts";
import { addressOfFlag, askServer, serverOfFlag } from "./ask_server.ts";
import type { proxyBootstrapFlags } from "./server_flags.ts";

/** The tables, by the name of their command. */
const TABLES = {
  clusters: clusterTable,
  listeners: listenerTable,
  routes: routeTable,
  endpoints: endpointTable,
  secret: (dump: Dump) => secretTable(dump, Date.now()),
} as const satisfies Readonly<Record<string, (dump: Dump) => DumpTable>>;

export type TableName = keyof typeof TABLES;

/** Flags that say where to read, and how to write. The other flags choose rows. */
const COMMON_FLAGS: readonly string[] = ["server", "file", "admin", "output", "vklog"];

/** Prints a table; resolves with 0. */
export async function runTable(name: TableName, invocation: Invocation<FlagSet>): Promise<number> {
  const { flags, output } = invocation;
  const source = sourceOf(invocation);
  const value = await source.read(name === "endpoints" && "admin" in source ? "clusters?format=json" : undefined);
  const table = name === "endpoints" && isClustersPage(value)
    ? liveEndpointTable(value)
    : TABLES[name](dumpOf(value, source.name, name));
  const wanted = Object.entries(flags).filter(([flag]) => !COMMON_FLAGS.includes(flag));
  const rows = chosenRows(table.rows, Object.fromEntries(wanted.map(([flag, one]) => [flag, String(one)])));
  if (flags.output === "json") {
    // A resource with several rows is printed once.
    const resources = [...new Set(rows.map(({ resource }) => resource))];
    output.out(`${JSON.stringify(resources, undefined, 2)}\n`);
  } else output.out(safeText([...columns([table.heading, ...rows.map(({ cells }) => cells)]), ""].join("\n")));
  return 0;
}

/** Prints the bootstrap; resolves with 0. */
export async function runBootstrap({ flags, output }: Invocation<typeof proxyBootstrapFlags>): Promise<number> {
  if (flags.file === "" && flags.admin === "") {
    throw new UsageError(
      "proxy-config bootstrap: got no source, expected --file or --admin: a server does not know it",
    );
  }
  const source = ownSource(flags.file, flags.admin);
  const { bootstrap } = dumpOf(await source.read(), source.name, "bootstrap");
  if (bootstrap === undefined) {
    throw new UsageError(`${source.name}: has no bootstrap, expected the page /config_dump of Envoy itself`);
  }
  output.out(flags.output === "json" ? `${JSON.stringify(bootstrap, undefined, 2)}\n` : stringify(bootstrap));
  return 0;
}

/** Where the configuration of a proxy is. */
interface Source {
  /** Names the source in errors. */
  readonly name: string;
  /** The proxy itself answers. */
  readonly admin?: true;
  /** Reads a dump, or another page of the proxy's admin port. */
  readonly read: (page?: string) => Promise<unknown>;
}

function sourceOf({ flags, args, given }: Invocation<FlagSet>): Source {
  const [proxy] = args;
  const [file, admin] = [String(flags.file), String(flags.admin)];
  const sources = [...proxy === undefined ? [] : [proxy], ...["file", "admin"].filter((flag) => flags[flag] !== "")];
  if (sources.length !== 1) {
    throw new UsageError(
      `proxy-config: got ${sources.join(" and ") || "no proxy"}, expected one of <name.namespace>, --file and --admin`,
    );
  }
  if (proxy === undefined) {
    if (given.has("server")) {
      throw new UsageError("flag --server: got no <name.namespace>, expected the server's proxy");
    }
    return ownSource(file, admin);
  }
  const server = serverOfFlag(String(flags.server));
  const url = new URL("/debug/config_dump?include_eds", server);
  url.searchParams.set("proxyID", connectionPart(proxy));
  return { name: server.origin, read: () => askServer("GET", url) };
}

/** The page finds a proxy by a part of its connection id; the whole name between the marks finds no other proxy. */
function connectionPart(proxy: string): string {
  const parts = proxy.split("/");
  const dotted = parts.length === 2 ? `${parts[1]}.${parts[0]}` : proxy;
  const isName = !/[~/]/.test(dotted) && dotted.split(".").length > 1 && dotted.split(".").every((part) => part !== "");
  if (isName) return `~${dotted}~`;
  throw new UsageError(`proxy-config: got ${JSON.stringify(proxy)}, expected name.namespace or namespace/name`);
}

/** What a proxy says of itself. */
function ownSource(file: string, admin: string): Source {
  if (file !== "" && admin !== "") throw new UsageError("proxy-config: got --file and --admin, expected one of them");
  if (file !== "") {
    const name = file === "-" ? "standard input" : file;
    return { name, read: async () => parsed(name, await textOf(file)) };
  }
  const url = addressOfFlag("--admin", admin);
  return {
    ...{ name: url.origin, admin: true },
    read: (page = "config_dump?include_eds") => askServer("GET", new URL(`/${page}`, url), { asked: "proxy" }),
  };
}

async function textOf(file: string): Promise<string> {
  if (file === "-") return await new Response(Deno.stdin.readable).text();
  try {
    return await readRegularText(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new UsageError(`flag --file: ${file}: no such file`);
    throw new UsageError(`flag --file: ${errorMessage(error)}`);
  }
}

function parsed(name: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new UsageError(`${name}: ${(error as Error).message}, expected the page /config_dump of Envoy as JSON`);
  }
}

function dumpOf(value: unknown, source: string, table: TableName | "bootstrap"): Dump {
  let dump: Dump;
  try {
    dump = readDump(value);
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(`${source}: ${error.message}`);
    throw error;
  }
  if (table === "endpoints" && dump.endpoints === undefined) {
    throw new UsageError(
      `${source}: has no endpoints, expected /config_dump?include_eds or /clusters?format=json of Envoy`,
    );
  }
  return dump;
}
