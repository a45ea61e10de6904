/**
 * The images, as data: files, links, environment, user and first program of each. The images of the programs have the
 * content of the target `bundled` of `containers/`, on a base that this machine can make. `tests/scripts/images_test.ts`
 * compares both.
 *
 * Permissions: read of deno.json.
 *
 * @module
 */
import type { BundleSpec } from "../../cmd/program_bundle.ts";
import { type BundledProgram, bundleSpec, COMPILED, launcherPath } from "../bundle.ts";
import type { OrchestratorProgram } from "../orchestrator/binaries.ts";

/** A file or a folder with all its files, copied into a layer. An executable file has mode 0755, another file 0644. */
export interface Copied {
  /** Path in the tree, {@linkcode RUNTIME}, {@linkcode ENVOY}, or a program that was built from Go modules. */
  readonly from: string | { readonly program: OrchestratorProgram };
  /** Absolute path in the image. */
  readonly to: string;
}

/** A symbolic link in a layer. */
export interface Linked {
  readonly to: string;
  readonly target: string;
}

/** A C program, compiled into a static executable. */
export interface Compiled {
  /** Path of the source in the tree. */
  readonly source: string;
  readonly to: string;
}

/** Files that a run of the program on the layers below leaves behind. */
export interface Recorded {
  /** A line of the image's shell that ends with the program. */
  readonly run: string;
  /** Text in the output after which the program gets SIGTERM. */
  readonly until: string;
  /** Folder of the files, which are the layer. */
  readonly folder: string;
}

/** A layer above the base. */
export interface Layer {
  /** Name in the history of the image. */
  readonly name: string;
  readonly files: readonly (Copied | Linked | Compiled | Recorded)[];
}

/** An image. */
export interface Image {
  /** Full name with tag. */
  readonly reference: string;
  /** Further names. */
  readonly aliases?: readonly string[];
  /** The Debian of `base.ts`, or an empty root. */
  readonly base: "debian" | "empty";
  /** The program whose bundle the image has. */
  readonly bundle?: BundledProgram;
  /** Sources that the image has as JavaScript, without a launcher. */
  readonly modules?: BundleSpec;
  readonly content: readonly Layer[];
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly entrypoint: readonly string[];
}

/** The runtime's own executable. */
export const RUNTIME = "(runtime)";

/** The Envoy of the set-up, or of the variable ENVOY. */
export const ENVOY = "(envoy)";

/** The images of a cluster's mesh. */
export const MESH_IMAGES = ["pilot-discovery", "proxy", "install-cni"] as const;

/** Images for tests: the first process of a pod, a server and client of tests, and the tests' node tunnel. */
export const TEST_IMAGES = ["pause", "echo", "tunnel"] as const;

/** Images that the manifests of Gateway API's conformance suite name. */
export const CONFORMANCE_IMAGES = [
  "conformance-server",
  "conformance-server-v1.3",
  "conformance-echo",
  "conformance-dns",
  "conformance-picker",
] as const;

export type ImageName =
  | typeof MESH_IMAGES[number]
  | typeof TEST_IMAGES[number]
  | typeof CONFORMANCE_IMAGES[number];

const runtime: Layer = { name: "runtime", files: [{ from: RUNTIME, to: "/usr/local/bin/deno" }] };
const envoy: Layer = { name: "Envoy", files: [{ from: ENVOY, to: "/usr/local/bin/envoy" }] };

function bundle(program: BundledProgram): Layer {
  const { folder } = bundleSpec(program);
  const place = `/usr/local/lib/${program}`;
  return {
    name: `bundle of ${program}`,
    files: [
      { from: folder, to: place },
      { to: `/usr/local/bin/${program}`, target: `${place}${launcherPath(program).slice(folder.length)}` },
    ],
  };
}

/** The code that a start compiles: the launcher gives the code to the runtime. */
function compiledCode(program: BundledProgram, run: string, until: string): Layer {
  const folder = `/usr/local/lib/${program}/${COMPILED}`;
  return { name: `compiled code of ${program}`, files: [{ run: `DENO_DIR=${folder} ${run}`, until, folder }] };
}

/** The node tunnel of tests. */
const TUNNEL: BundleSpec = { folder: "dist/bundle/tunnel", entry: "tests/tunnel/main.ts" };

/** Registry of the images in the suite's manifests. */
const SUITE_REGISTRY = "registry.k8s.io/gateway-api";

/** The same of the suite v1.3.0. */
const EARLIER_REGISTRY = "gcr.io/k8s-staging-gateway-api", EARLIER_TAG = "v20240412-v1.0.0-394-g40c666fd";

/** Folder of the endpoint picker in its image. */
const PICKER = "/usr/local/lib/picker";

/** An image of a program that needs no other file. */
function programImage(program: OrchestratorProgram, path: string, reference: string): Image {
  return {
    reference,
    base: "empty",
    content: [{ name: program, files: [{ from: { program }, to: path }] }],
    env: {},
    user: "0:0",
    entrypoint: [path],
  };
}

/** An image that the suite's manifests name. */
function conformanceImage(name: typeof CONFORMANCE_IMAGES[number]): Image {
  const echo: Copied = { from: { program: "conformance-echo" }, to: "/usr/local/bin/server" };
  switch (name) {
    case "conformance-server":
      return {
        ...programImage(name, "/echo-basic", `${SUITE_REGISTRY}/echo-basic:v1.6.0-dev.3`),
        aliases: [
          ...["v1.5.1", "v1.6.0-dev.2"].map((tag) => `${SUITE_REGISTRY}/echo-basic:${tag}`),
          // The suite of the Inference Extension.
          `${EARLIER_REGISTRY}/echo-basic:v20251106-v1.3.0-263-g47c3435c`,
        ],
      };
    case "conformance-server-v1.3":
      return programImage(name, "/echo-basic", `${EARLIER_REGISTRY}/echo-basic:${EARLIER_TAG}`);
    case "conformance-echo":
      return {
        ...programImage(name, echo.to, `${SUITE_REGISTRY}/echo-advanced:v1.5.1`),
        aliases: [`${EARLIER_REGISTRY}/echo-advanced:${EARLIER_TAG}`],
        // One program with two names: the server, and the client that the suite calls in a pod.
        content: [{ name, files: [echo, { to: "/usr/local/bin/client", target: "server" }] }],
      };
    case "conformance-dns":
      return {
        ...programImage("coredns", "/coredns", "registry.k8s.io/coredns/coredns:v1.12.2"),
        aliases: ["docker.io/coredns/coredns:latest"],
      };
    case "conformance-picker":
      return {
        reference: "registry.k8s.io/gateway-api-inference-extension/lwepp:v1.6.0",
        base: "debian",
        content: [runtime, {
          name: "endpoint picker",
          files: ["lib/grpc", "lib/resource", "lib/sockets", "tests/conformance/picker"].map((from) => ({
            ...{ from, to: `${PICKER}/${from}` },
          })),
        }],
        env: { DENO_NO_UPDATE_CHECK: "1" },
        user: "1000:1000",
        entrypoint: [
          ...["/usr/local/bin/deno", "run", "--quiet", "--no-config", "--no-lock", "--no-check", "--cached-only"],
          ...[
            "--allow-net",
            "--allow-env",
            "--allow-read=/var/run/secrets",
            `${PICKER}/tests/conformance/picker/main.ts`,
          ],
        ],
      };
  }
}

/** An image for tests. */
function testImage(name: typeof TEST_IMAGES[number]): Image {
  switch (name) {
    case "pause":
      return {
        reference: "docker.io/local/pause:1",
        base: "empty",
        content: [{ name: "pause", files: [{ source: "scripts/images/pause.c", to: "/pause" }] }],
        env: {},
        user: "65535:65535",
        entrypoint: ["/pause"],
      };
    case "echo":
      return {
        reference: "docker.io/local/echo:1",
        base: "debian",
        content: [runtime, { name: "echo", files: [{ from: "tests/cluster/echo", to: "/usr/local/lib/echo" }] }],
        env: { DENO_NO_UPDATE_CHECK: "1" },
        user: "1000:1000",
        entrypoint: [
          ...["/usr/local/bin/deno", "run", "--quiet", "--no-config", "--no-lock", "--no-check", "--cached-only"],
          ...["--allow-net", "--allow-env", "--allow-sys=hostname", "/usr/local/lib/echo/main.ts"],
        ],
      };
    case "tunnel":
      return {
        reference: "docker.io/local/tunnel:1",
        base: "debian",
        modules: TUNNEL,
        content: [runtime, { name: "tunnel", files: [{ from: TUNNEL.folder, to: "/usr/local/lib/tunnel" }] }],
        // The root of a tunnel's container is read-only.
        env: { DENO_NO_UPDATE_CHECK: "1", DENO_DIR: "/tmp/deno" },
        user: "0:0",
        entrypoint: [
          ...["/usr/local/bin/deno", "run", "--quiet", "--no-config", "--no-lock", "--no-check", "--cached-only"],
          ...["--allow-ffi", "--allow-net", "--allow-env", "--allow-read", "/usr/local/lib/tunnel/main.js"],
        ],
      };
  }
}

/** The description of an image. */
export function imageOf(name: ImageName): Image {
  const { version } = JSON.parse(Deno.readTextFileSync(new URL("../../deno.json", import.meta.url)));
  switch (name) {
    case "pilot-discovery":
      return {
        reference: `docker.io/mesh/pilot-discovery:${version}`,
        base: "debian",
        bundle: "pilot-discovery",
        content: [
          runtime,
          bundle("pilot-discovery"),
          compiledCode(
            "pilot-discovery",
            "ENABLE_CA_SERVER=false exec pilot-discovery discovery --registries= --configDir=/usr/local/lib",
            "\tserving\t",
          ),
        ],
        env: { DENO_NO_UPDATE_CHECK: "1" },
        user: "1337:1337",
        entrypoint: ["/usr/local/bin/pilot-discovery"],
      };
    case "proxy":
      return {
        reference: `docker.io/mesh/proxy:${version}`,
        base: "debian",
        bundle: "pilot-agent",
        content: [
          runtime,
          envoy,
          bundle("pilot-agent"),
          compiledCode(
            "pilot-agent",
            "POD_NAME=first POD_NAMESPACE=default INSTANCE_IP=127.0.0.1 exec pilot-agent proxy sidecar",
            "no certificate: ",
          ),
        ],
        env: { DENO_NO_UPDATE_CHECK: "1" },
        user: "1337:1337",
        entrypoint: ["/usr/local/bin/pilot-agent"],
      };
    case "install-cni":
      return {
        reference: `docker.io/mesh/install-cni:${version}`,
        base: "debian",
        bundle: "install-cni",
        content: [runtime, bundle("install-cni")],
        env: { DENO_NO_UPDATE_CHECK: "1" },
        user: "0:0",
        entrypoint: ["/usr/local/bin/install-cni"],
      };
    case "pause":
    case "echo":
    case "tunnel":
      return testImage(name);
    default:
      return conformanceImage(name);
  }
}
