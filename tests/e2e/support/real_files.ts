/**
 * Configuration in files of this repository, as real Envoys of a test can have it: certificates where they really lie,
 * gateways on ports of the test.
 *
 * Permissions: read of the repository.
 *
 * @module
 */
import { parseAllDocuments } from "yaml";
import { MESH_KINDS } from "../../../lib/config/kinds/kinds.ts";
import { EXPECTED } from "../../translate/golden/read.ts";
import { groupOfKind } from "../../../lib/config/spelling/spelling.ts";

const root = new URL("../../..", import.meta.url).pathname;

/** Texts by name. */
export type Files = Record<string, string>;
/** An object of a file. */
export interface ObjectTree {
  kind?: string;
  apiVersion?: string;
  metadata?: { namespace?: string };
  spec?: {
    selector?: Record<string, string>;
    servers?: { bind?: string; port: { number: number } }[];
    gateways?: string[];
    http?: Route[];
    tls?: Route[];
    tcp?: Route[];
  };
}
interface Route {
  match?: { port?: number }[];
}

/** Folders that hold a YAML file, at any depth. */
export function folders(dir: string): string[] {
  const entries = [...Deno.readDirSync(`${root}${dir}`)];
  const here = entries.some((e) => e.isFile && e.name.endsWith(".yaml")) ? [dir] : [];
  return [...here, ...entries.filter((e) => e.isDirectory).flatMap((e) => folders(`${dir}/${e.name}`))].sort();
}

/** The YAML files of a folder. */
export function yamlFiles(dir: string): Files {
  const names = [...Deno.readDirSync(`${root}${dir}`)].map((e) => e.name).filter((n) => n.endsWith(".yaml")).sort();
  return Object.fromEntries(names.map((name) => [name, Deno.readTextFileSync(`${root}${dir}/${name}`)]));
}

/** Settings that validation keeps out of a folder. Some worlds have such settings, because translation must cope. */
const REFUSED: readonly (readonly [string, string])[] = [[', "-AES128-SHA"', ""], ["A.example.com", "a.example.com"]];

/** The text of a world with the actual paths of its certificates. */
function withCertificates(world: string): string {
  const text = REFUSED.reduce((rest, [from, to]) => rest.replaceAll(from, to), world);
  const pem = `${root}tests/testdata/pem`;
  return text.replaceAll(
    /(?<![\w/.])\/(?:etc\/[\w/-]*?)?(\w+)\.pem/g,
    (_, name) => `${pem}/${FILES[name] ?? "cert"}.pem`,
  );
}
/** Actual files, by their names in the worlds. */
const FILES: Readonly<Record<string, string>> = { crl: "crl", key: "key", k: "key" };

/** The objects of a file; the head of a golden, and what the golden expects, are left out. */
export function objectsIn(text: string): ObjectTree[] {
  return parseAllDocuments(withCertificates(text.split(EXPECTED)[0]!), { merge: true })
    .map((d) => d.toJS({ maxAliasCount: 100 }) as ObjectTree).filter((tree) => tree !== null && tree.kind !== "Golden");
}

/** Ports of the servers of all gateways. */
export function gatewayPorts(objects: readonly ObjectTree[]): number[] {
  const servers = objects.filter(({ kind }) => kind === "Gateway").flatMap(({ spec }) => spec?.servers ?? []);
  return [...new Set(servers.filter((server) => !isSocket(server)).map(({ port }) => port.number))];
}

/** Whether a server binds to a Unix socket. Such a server has port 0. */
function isSocket({ bind }: { bind?: string }): boolean {
  return bind?.startsWith("unix:") ?? false;
}

/** Gateways bind to loopback, to ports that are this test's; routes that name a gateway's port name the same one. */
export function runnable(tree: ObjectTree, ports: ReadonlyMap<number, number>): string {
  const { kind, spec = {} } = tree;
  const moved = (number: number) => ports.get(number) ?? number;
  const servers = spec.servers?.map((server) =>
    isSocket(server)
      ? server
      : { ...server, port: { ...server.port, number: moved(server.port.number) }, bind: "127.0.0.1" }
  );
  const routes = (list?: Route[]) =>
    list?.map((route) => ({
      ...route,
      ...route.match && {
        match: route.match.map((one) => one.port === undefined ? one : { ...one, port: moved(one.port) }),
      },
    }));
  const ofGateway = kind === "VirtualService" && spec.gateways?.some((name) => name !== "mesh");
  const changed = kind === "Gateway"
    ? { ...spec, servers }
    : ofGateway
    ? { ...spec, http: routes(spec.http), tls: routes(spec.tls), tcp: routes(spec.tcp) }
    : tree.spec;
  const known = MESH_KINDS.find((one) => one === kind);
  const group = known === undefined ? "networking" : groupOfKind(known);
  return JSON.stringify({ apiVersion: `${group}.mesh.io/v1`, ...tree, spec: changed });
}
