/**
 * Names for completion: workloads, services, objects and namespaces of the folder or of the server that the command line
 * names, or else of the server on this machine.
 *
 * Permissions: read of the named paths, net (the address of the server), env (the program's variables).
 *
 * @module
 */
import * as z from "zod";
import type { CompletionQuestion, Output } from "../../lib/cli/command.ts";
import { httpExchange } from "../../lib/cli/http.ts";
import { proxiesOf } from "../../lib/offline/workloads.ts";
import { serverUrl } from "./ask_server.ts";
import { readMesh } from "./offline.ts";
import { NEAR_SERVER } from "./server_flags.ts";

/** Longest time for an answer: somebody waits at a prompt. */
const TIMEOUT = 2000;

/** Longest answer of a server, in bytes. */
const MAX_ANSWER = 16 * 1024 * 1024;

/** What there is, by namespace and name. */
interface KnownNames {
  readonly workloads: readonly NamedThing[];
  readonly services: readonly NamedThing[];
  /** `kind/namespace/name`. */
  readonly objects: readonly string[];
}

interface NamedThing {
  readonly namespace: string;
  readonly name: string;
}

/** The names of a sort; empty: nothing is known. */
export async function namesForCompletion(question: CompletionQuestion): Promise<readonly string[]> {
  const source = sourceOf(question);
  const read = "server" in source ? namesOfServer(source.server) : namesInFiles(source.paths);
  switch (question.sort) {
    case "workload":
      return (await read.workloads()).map(({ namespace, name }) => `${namespace}/${name}`);
    case "pod":
      return (await read.workloads()).map(({ namespace, name }) => `${name}.${namespace}`);
    case "service":
      return (await read.services()).map(({ namespace, name }) => `${name}.${namespace}`);
    case "object":
      return await read.objects();
    case "namespace": {
      const things = [...await read.workloads(), ...await read.services()].map(({ namespace }) => namespace);
      const objects = (await read.objects()).map((key) => key.split("/")[1] ?? "");
      return [...things, ...objects].filter((namespace) => namespace !== "");
    }
    case "page":
      return await pages(question.start, read);
  }
}

/** Reads names of each sort when a question needs them. */
type NameReader = { readonly [K in keyof KnownNames]: () => Promise<KnownNames[K]> };

/** Pages with the queries that completion knows. */
async function pages(start: string, read: NameReader): Promise<readonly string[]> {
  const object = "/debug/live?object=";
  if (start.startsWith(object)) return (await read.objects()).map((key) => object + key);
  const { PAGES } = await import("../../lib/debug/pages.ts");
  return [...PAGES.map(({ path }) => `/debug/${path}`), object, "/metrics", "/version"];
}

type NameSource = { readonly server: URL } | { readonly paths: readonly string[] };

/** The source that the command line names. */
function sourceOf({ flags, given, args, sort }: CompletionQuestion): NameSource {
  const files = flags["files"];
  if (Array.isArray(files) && files.length > 0) return { paths: files.map(String).filter((path) => path !== "-") };
  const [named] = [flags["server"]].flat();
  if (given.has("server") && typeof named === "string") return { server: serverUrl(named) ?? near() };
  // Arguments of commands on files are paths; of `diff` also addresses.
  if (sort === "workload" && args.length > 0) {
    const server = args.map((one) => serverUrl(one)).find((url) => url !== undefined);
    return server === undefined ? { paths: args.filter((path) => path !== "-") } : { server };
  }
  return { server: near() };
}

function near(): URL {
  return new URL(`http://${NEAR_SERVER}`);
}

/** Nothing is printed: a shell would show it. */
const SILENT: Output = { out: () => {}, err: () => {} };

function namesInFiles(paths: readonly string[]): NameReader {
  const options = { domain: "cluster.local", meshConfig: "", registries: ["File"] };
  const read = readMesh(paths, options, SILENT).then(({ mesh }) => mesh);
  return {
    workloads: async () => proxiesOf(await read).proxies.filter(({ standsIn }) => !standsIn),
    services: async () => [...(await read).pipeline.aggregate.services()],
    objects: async () => [...(await read).objects.keys()],
  };
}

const CONNECTIONS = z.looseObject({ clients: z.array(z.looseObject({ connectionId: z.string() })) });
const FACTS = z.looseObject({
  facts: z.array(z.looseObject({ metadata: z.looseObject({ name: z.string(), namespace: z.string() }) })),
});
const SERVICES = z.array(z.looseObject({ name: z.string(), namespace: z.string() }));
const OBJECTS = z.array(
  z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string(), namespace: z.string().default("") }) }),
);

function namesOfServer(server: URL): NameReader {
  const ask = async <S extends z.ZodType>(path: string, schema: S): Promise<z.output<S>> => {
    const url = new URL(path, server);
    const { status, body } = await httpExchange({ method: "GET", url, timeout: TIMEOUT, maxBytes: MAX_ANSWER });
    if (status !== 200) throw new Error(`${url}: status ${status}`);
    return schema.parse(JSON.parse(body));
  };
  return {
    workloads: async () => {
      const [{ clients }, { facts }] = await Promise.all([
        ask("/debug/connections", CONNECTIONS),
        ask("/debug/factz?kind=Pod&limit=1000", FACTS),
      ]);
      const connected = clients.map(({ connectionId }) => {
        const [, , id = ""] = connectionId.split("~");
        const dot = id.lastIndexOf(".");
        return { name: id.slice(0, dot), namespace: id.slice(dot + 1) };
      });
      return [...connected, ...facts.map(({ metadata }) => metadata)];
    },
    services: () => ask("/debug/registryz", SERVICES),
    objects: async () =>
      (await ask("/debug/configz", OBJECTS)).map(({ kind, metadata }) =>
        `${kind}/${metadata.namespace}/${metadata.name}`
      ),
  };
}
