/**
 * The groups in which tests run, with the permissions of each group: a folder of `tests/`, or the examples in doc
 * comments.
 *
 * Permissions: read of the repository.
 *
 * @module
 */
import { OPENSSL_PATHS } from "../../lib/pki/openssl/library.ts";

/** Tests of a single process. */
export interface TestGroup {
  readonly name: string;
  /** Files and folders. */
  readonly paths: readonly string[];
  readonly permissions: readonly string[];
  /** The examples in doc comments instead of test files. */
  readonly examples?: true;
  /** Programs whose first build on a machine takes minutes. */
  readonly needs?: "API server" | "tools" | "cluster" | "suite" | undefined;
  /** Waits more than it computes: for the kernel, for other programs, for timers. */
  readonly waits?: boolean;
  /** Files share isolates: no file depends on modules that no other file has used. */
  readonly shares?: boolean;
}

const READ = "--allow-read";
const TEMP = "--allow-write=/tmp";
const ENV = "--allow-env";
/** Servers listen on loopback addresses with free ports; listeners of Envoys are dialled there. */
const NET = "--allow-net";
const DENO = "--allow-run=deno," + Deno.execPath();
/** The OpenSSL library of the server. A test compares the list with the server's permission set. */
const OPENSSL = "--allow-ffi=" + OPENSSL_PATHS.join(",");
/** For programs made by the test (a wrapper, a compiled client) or given by a variable (ENVOY). */
const RUN = "--allow-run";

/** The permissions of each folder's tests. A missing folder has none. */
const PERMISSIONS: Readonly<Record<string, readonly string[]>> = {
  // Real Envoys, sockets of both ends, programs as processes. Folders of certificates are swapped by symbolic links,
  // which need permission to write everywhere.
  agent: [
    ...[READ, "--allow-write", ENV, NET, RUN],
    "--allow-sys=hostname,cpus,networkInterfaces,systemMemoryInfo,uid,gid",
  ],
  // Inputs and expected resources in files, written where a change is accepted.
  ambient: [READ, TEMP, ENV],
  // Inputs and expected findings in files.
  analyze: [READ, TEMP, ENV],
  // An issuer of tokens with its own port.
  authenticators: [ENV, NET],
  // Wrappers of the programs, bash, zsh and fish; ports of a test server.
  cli: [READ, TEMP, ENV, NET, RUN],
  // The programs as processes.
  cmd: [READ, TEMP, ENV, NET, DENO],
  // Other readers as processes.
  config: [READ, TEMP, ENV, DENO],
  // Plugins and rules in network namespaces of the tests' own.
  cni: [READ, TEMP, ENV, NET, RUN, "--allow-sys=uid,gid"],
  iptables: [READ, TEMP, ENV, NET, RUN, "--allow-sys=uid,gid,networkInterfaces"],
  discovery: [READ, TEMP, ENV, NET, "--allow-sys=hostname,cpus,systemMemoryInfo,networkInterfaces"],
  debug: [READ, TEMP, ENV, NET, "--allow-sys=hostname,cpus,systemMemoryInfo,networkInterfaces"],
  // Programs that resolve names, in network namespaces with a separate resolv.conf.
  dns: [READ, "--allow-write=/tmp,/etc/netns", ENV, NET, RUN, "--allow-sys=uid"],
  // The language server of editors, installed by npm.
  editor: [READ, TEMP, ENV, "--allow-run=bash,ln,node"],
  // The demo and servers as processes, with real Envoys.
  e2e: [READ, TEMP, ENV, NET, RUN, "--allow-sys=hostname,cpus,systemMemoryInfo"],
  // Watched folders, and an editor. Symbolic links need permission to write everywhere.
  folder: [READ, "--allow-write", ENV, `${DENO},sed`],
  // Helm and kubectl as processes, an API with its own ports.
  charts: [READ, TEMP, ENV, NET, RUN, "--allow-sys=hostname,cpus,systemMemoryInfo,networkInterfaces,uid"],
  // A real cluster in namespaces, with its images and programs.
  cluster: [READ, "--allow-write", ENV, NET, RUN, "--allow-sys=uid"],
  // The same, and the official conformance suite as a program.
  conformance: [READ, "--allow-write", ENV, NET, RUN, "--allow-sys=uid"],
  // Servers and proxies.
  effect: [READ, TEMP, ENV, NET, "--allow-sys=hostname,cpus,systemMemoryInfo,networkInterfaces"],
  // Sockets of both ends.
  grpc: [READ, TEMP, ENV, NET],
  // Real Envoys, a server, openssl.
  gateway_api: [READ, TEMP, ENV, NET, RUN, "--allow-sys=hostname,cpus,systemMemoryInfo,networkInterfaces"],
  // The tree itself, and `deno doc`.
  house: [READ, ENV, DENO],
  // Sockets of both ends, openssl, profiles of the test itself.
  http: [READ, TEMP, ENV, NET, RUN, "--allow-sys=inspector"],
  // Expected files, written where a change is accepted.
  ingress: [READ, TEMP, ENV],
  injection: [READ, ENV],
  install: [READ, ENV],
  kernel: [READ, TEMP, ENV, NET],
  // Cases of kinds in files.
  mcp: [READ],
  // Input texts, real Envoys, a server.
  offline: [READ, TEMP, ENV, NET, RUN, "--allow-sys=hostname,cpus,systemMemoryInfo,networkInterfaces"],
  // The library, installed by npm: deno, tar, npm, node.
  package: [READ, TEMP, ENV, RUN],
  // A server of answers in the form of Prometheus.
  prometheus: [ENV, NET],
  // The page of benchmarks.
  sizing: [READ],
  // Watched files, openssl, sockets of both ends. Symbolic links need permission to write everywhere.
  authority: [READ, "--allow-write", ENV, NET, "--allow-run=openssl", OPENSSL],
  // OpenSSL as reader and writer of files, and its library for signing.
  pki: [READ, TEMP, ENV, "--allow-run=openssl", OPENSSL],
  // An API with its own ports, files of access, programs that print credentials, servers and real Envoys.
  orch: [READ, TEMP, ENV, NET, RUN, "--allow-sys=hostname,cpus,systemMemoryInfo,networkInterfaces,uid"],
  // The commands on the pages, and a server.
  readme: [READ, TEMP, ENV, NET, RUN, "--allow-sys=hostname,cpus,systemMemoryInfo,networkInterfaces"],
  // Leased ports, expected files, manifests, programs of the tests, image archives.
  scripts: [READ, TEMP, ENV, NET, `${DENO},sh,tar,ln,gcc,rm,unshare`, "--allow-sys=uid"],
  // Sockets of both ends, and a process with measured memory.
  sockets: [READ, TEMP, ENV, NET, DENO],
  // Real Envoys.
  simulate: [READ, TEMP, ENV, NET, RUN],
  // The protobuf files of gRPC for Node, which checks its read permission.
  translate: [READ, TEMP, ENV, NET, RUN, "--allow-sys=uid"],
  // The node tunnel of the tests, as a program, with servers, real Envoys and network namespaces of the tests' own.
  tunnel: [READ, TEMP, ENV, NET, RUN, "--allow-sys=hostname,cpus,systemMemoryInfo,networkInterfaces,uid"],
  // A real browser, servers.
  web: [READ, TEMP, ENV, NET, RUN, "--allow-sys=hostname,cpus,systemMemoryInfo"],
  webhook: [READ, ENV],
  // Real Envoys, a compiled client, openssl, servers.
  wire_conformance: [READ, TEMP, ENV, NET, RUN, "--allow-sys=hostname,cpus,systemMemoryInfo"],
  xds: [READ, TEMP, ENV, NET],
};

/** The permissions of examples, which start a server on a new folder. */
const EXAMPLES = [READ, TEMP, ENV, NET, "--allow-sys=hostname,cpus,systemMemoryInfo"];

/** Groups whose files share isolates. */
const SHARING = new Set([
  ...["analyze", "authenticators", "authority", "bench", "cli", "config", "debug", "grpc", "incremental", "ingress"],
  ...["kernel", "mesh", "pb", "resource", "status", "translate", "webhook", "xds"],
]);

/** Groups whose processors are idle for much of the time. */
const WAITING = new Set([
  ...["charts", "cluster", "cni", "conformance", "e2e", "editor", "iptables", "orch", "package", "readme", "tunnel"],
]);

/** Folders of `tests/` without tests. */
const NO_TESTS = new Set(["testdata", "surface"]);

/**
 * The groups to run.
 *
 * @param wanted Paths of files or folders; none: everything.
 */
export function testGroups(root: string, wanted: readonly string[]): TestGroup[] {
  if (wanted.length > 0) {
    const byGroup = Map.groupBy(wanted, (path) => /^(?:\.\/)?tests\/([^/]+)/.exec(path)?.[1] ?? path);
    return [...byGroup].map(([name, paths]) => {
      const needs = paths.map((path) => needsOf(`${root}/${path}`)).find((needs) => needs !== undefined);
      const permissions = PERMISSIONS[name] ?? [];
      return { name, paths, permissions, needs, waits: WAITING.has(name), shares: SHARING.has(name) };
    });
  }
  const folders = [...Deno.readDirSync(`${root}/tests`)].filter((e) => e.isDirectory && !NO_TESTS.has(e.name))
    .map((e) => e.name).sort();
  const groups: TestGroup[] = folders.filter((name) => hasTests(`${root}/tests/${name}`)).map((name) => ({
    name,
    paths: [`tests/${name}`],
    permissions: PERMISSIONS[name] ?? [],
    needs: needsOf(`${root}/tests/${name}`),
    waits: WAITING.has(name),
    shares: SHARING.has(name),
  }));
  const examples: TestGroup = {
    name: "examples",
    paths: ["mod.ts", "lib", "docs/users"],
    permissions: EXAMPLES,
    examples: true,
  };
  // Groups with an API server come last, and clusters at the very end: their programs are built while others run. The
  // conformance suite is built last of all.
  const needing = (needs: TestGroup["needs"]) => groups.filter((group) => group.needs === needs);
  return [
    ...needing(undefined),
    examples,
    ...needing("API server"),
    ...needing("tools"),
    ...needing("cluster"),
    ...needing("suite"),
  ];
}

function hasTests(folder: string): boolean {
  return someTest(folder, () => true);
}

/** @param path Of a folder or a file. */
function needsOf(path: string): TestGroup["needs"] {
  const imports = (module: RegExp) => someTest(path, (file) => module.test(Deno.readTextFileSync(file)));
  if (imports(/support\/suite\.ts"/)) return "suite";
  if (imports(/support\/cluster_tests\.ts"/)) return "cluster";
  if (imports(/support\/tools\.ts"/)) return "tools";
  return imports(/support\/server\/(tests|api_server)\.ts"/) ? "API server" : undefined;
}

function someTest(path: string, matches: (file: string) => boolean): boolean {
  if (path.endsWith(".ts")) return /_test\.ts$/.test(path) && matches(path);
  return [...Deno.readDirSync(path)].some(({ isDirectory, name }) =>
    (isDirectory || name.endsWith(".ts")) && someTest(`${path}/${name}`, matches)
  );
}
