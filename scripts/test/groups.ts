/**
 * The groups in which tests run, with the permissions of each: a folder of `tests/`, or the examples in doc comments.
 *
 * Permissions: read of the repository.
 *
 * @module
 */
import { OPENSSL_PATHS } from "../../lib/pki/openssl/library.ts";

/** Tests that run in one process. */
export interface TestGroup {
  readonly name: string;
  /** Files and folders. */
  readonly paths: readonly string[];
  readonly permissions: readonly string[];
  /** The examples in doc comments instead of test files. */
  readonly examples?: true;
  /** Starts an API server, which takes minutes to build on a machine that never did. */
  readonly orchestrator?: boolean;
}

const READ = "--allow-read";
const TEMP = "--allow-write=/tmp";
const ENV = "--allow-env";
/** Servers listen on loopback addresses with free ports; listeners of Envoys are dialled there. */
const NET = "--allow-net";
const DENO = "--allow-run=deno," + Deno.execPath();
/** The library that the server may use; a test holds the list to that of the server's permission set. */
const OPENSSL = "--allow-ffi=" + OPENSSL_PATHS.join(",");
/** Where the program to run is made by the test (a wrapper, a compiled client) or named by a variable (ENVOY). */
const RUN = "--allow-run";

/** The permissions of each folder's tests; a folder that is not here has none. */
const PERMISSIONS: Readonly<Record<string, readonly string[]>> = {
  // real Envoys, sockets of both ends; programs as processes
  // folders of certificates that are swapped by symbolic links, which cannot be made with less
  agent: [
    ...[READ, "--allow-write", ENV, NET, RUN],
    "--allow-sys=hostname,cpus,networkInterfaces,systemMemoryInfo,uid,gid",
  ],
  // inputs and expected findings in files
  analyze: [READ, TEMP, ENV],
  // an issuer of tokens with a port of its own
  authenticators: [ENV, NET],
  // wrappers of the programs, bash, zsh and fish; ports of a test server
  cli: [READ, TEMP, ENV, NET, RUN],
  // the programs as processes
  cmd: [READ, TEMP, ENV, NET, DENO],
  // other readers as processes
  config: [READ, TEMP, ENV, DENO],
  // plugins and rules in network namespaces of the tests' own
  cni: [READ, TEMP, ENV, NET, RUN, "--allow-sys=uid,gid"],
  iptables: [READ, TEMP, ENV, NET, RUN, "--allow-sys=uid,gid,networkInterfaces"],
  discovery: [READ, TEMP, ENV, NET, "--allow-sys=hostname,cpus,systemMemoryInfo,networkInterfaces"],
  debug: [READ, TEMP, ENV, NET, "--allow-sys=hostname,cpus,systemMemoryInfo,networkInterfaces"],
  // programs that resolve names, in network namespaces that have a resolv.conf of their own
  dns: [READ, "--allow-write=/tmp,/etc/netns", ENV, NET, RUN, "--allow-sys=uid"],
  // the demo and servers as processes, with real Envoys
  e2e: [READ, TEMP, ENV, NET, RUN, "--allow-sys=hostname,cpus,systemMemoryInfo"],
  // folders that are watched; symbolic links cannot be made with less
  folder: [READ, "--allow-write", ENV, DENO],
  // servers and proxies
  effect: [READ, TEMP, ENV, NET, "--allow-sys=hostname,cpus,systemMemoryInfo,networkInterfaces"],
  // sockets of both ends
  grpc: [READ, TEMP, ENV, NET],
  // the tree itself; `deno doc`
  house: [READ, ENV, DENO],
  // sockets of both ends; openssl; profiles of the test itself
  http: [READ, TEMP, ENV, NET, RUN, "--allow-sys=inspector"],
  // expected files, written where a change is accepted
  ingress: [READ, TEMP, ENV],
  injection: [READ, ENV],
  kernel: [READ, TEMP, ENV, NET],
  // cases of kinds in files
  mcp: [READ],
  // texts that are read, real Envoys, a server that is asked
  offline: [READ, TEMP, ENV, NET, RUN, "--allow-sys=hostname,cpus,systemMemoryInfo,networkInterfaces"],
  // the library as npm installs it: deno, tar, npm, node
  package: [READ, TEMP, ENV, RUN],
  // files that are watched; symbolic links cannot be made with less; openssl; sockets of both ends
  authority: [READ, "--allow-write", ENV, NET, "--allow-run=openssl", OPENSSL],
  // openssl, which reads written files and writes files to read; its library, which signs
  pki: [READ, TEMP, ENV, "--allow-run=openssl", OPENSSL],
  // an API with ports of its own; files of access; programs that print credentials; servers and real Envoys
  orch: [READ, TEMP, ENV, NET, RUN, "--allow-sys=hostname,cpus,systemMemoryInfo,networkInterfaces,uid"],
  // the commands that the page names
  readme: [READ, TEMP, ENV, NET, RUN],
  // ports that are leased, expected files, manifests; a program that prints much
  scripts: [READ, TEMP, ENV, NET, "--allow-run=sh"],
  // sockets of both ends; a process whose memory is measured
  sockets: [READ, TEMP, ENV, NET, DENO],
  // real Envoys
  simulate: [READ, TEMP, ENV, NET, RUN],
  // the protobuf files of gRPC for Node, which asks whether it may read them
  translate: [READ, TEMP, ENV, NET, RUN, "--allow-sys=uid"],
  // a real browser, servers
  web: [READ, TEMP, ENV, NET, RUN, "--allow-sys=hostname,cpus,systemMemoryInfo"],
  webhook: [READ, ENV],
  // real Envoys, a client that is compiled, openssl, servers
  wire_conformance: [READ, TEMP, ENV, NET, RUN, "--allow-sys=hostname,cpus,systemMemoryInfo"],
  xds: [READ, TEMP, ENV, NET],
};

/** The permissions of examples, which start a server on a folder that they make. */
const EXAMPLES = [READ, TEMP, ENV, NET, "--allow-sys=hostname,cpus,systemMemoryInfo"];

/** Folders of `tests/` that have no tests of their own. */
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
      const orchestrator = paths.some((path) => startsApiServer(`${root}/${path}`));
      return { name, paths, permissions: PERMISSIONS[name] ?? [], orchestrator };
    });
  }
  const folders = [...Deno.readDirSync(`${root}/tests`)].filter((e) => e.isDirectory && !NO_TESTS.has(e.name))
    .map((e) => e.name).sort();
  const groups: TestGroup[] = folders.filter((name) => hasTests(`${root}/tests/${name}`)).map((name) => ({
    name,
    paths: [`tests/${name}`],
    permissions: PERMISSIONS[name] ?? [],
    orchestrator: startsApiServer(`${root}/tests/${name}`),
  }));
  const examples: TestGroup = {
    name: "examples",
    paths: ["mod.ts", "lib", "docs/users"],
    permissions: EXAMPLES,
    examples: true,
  };
  // Those that start an API server come last: it is built while the others run.
  return [...groups.filter(({ orchestrator }) => !orchestrator), examples, ...groups.filter((g) => g.orchestrator)];
}

function hasTests(folder: string): boolean {
  return someTest(folder, () => true);
}

/** @param path Of a folder or a file. */
function startsApiServer(path: string): boolean {
  return someTest(path, (file) => /support\/server\/(tests|api_server)\.ts"/.test(Deno.readTextFileSync(file)));
}

function someTest(path: string, matches: (file: string) => boolean): boolean {
  if (path.endsWith(".ts")) return /_test\.ts$/.test(path) && matches(path);
  return [...Deno.readDirSync(path)].some(({ isDirectory, name }) =>
    (isDirectory || name.endsWith(".ts")) && someTest(`${path}/${name}`, matches)
  );
}
