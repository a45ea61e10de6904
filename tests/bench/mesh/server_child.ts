/**
 * The measured server, of this tree or another.
 *
 * Permissions: run (this runtime, cat), net (loopback).
 *
 * @module
 */
import { programArgs } from "../../../scripts/program_args.ts";
import type { TlsFiles } from "../../../lib/discovery/identity/tls_files.ts";
import { startLineChild } from "./line_child.ts";
import { PROBE_PREFIX, type ProbeAnswer } from "./probe_protocol.ts";
import { WITHOUT_ANALYSIS } from "./without_analysis.ts";
import { delay, untilIdle, type Usage, usage } from "./usage.ts";

/** The tree of this benchmark. */
export const THIS_TREE = new URL("../../..", import.meta.url).pathname;

/** How long a server may take to become ready, ms. */
const READY_PATIENCE = 300_000;

/** Options of the measured server. */
export interface ServerOptions {
  /** Root of the program's tree. Default: this tree. */
  readonly tree?: string;
  /** Folder for a CPU profile. The program then runs from its sources. */
  readonly profile?: string;
  /** Whether the server analyzes the mesh, as for users. Default true. If set, the program runs from its sources. */
  readonly analysis?: boolean;
  /** Serves over TLS with these files, and proxies connect over TLS. Default: in plain text. */
  readonly tls?: TlsFiles;
  /** Serves webhooks in plain text, on the port of the pages. Default false. */
  readonly webhooks?: boolean;
  /** File of the mesh configuration. Default: none. */
  readonly meshConfig?: string;
  /** Serves node tunnels, without a proof of their identity. Default false. */
  readonly ambient?: boolean;
  /** Folder of the signing authority. Default: the server makes an authority. */
  readonly authority?: string;
}

/** Where the mesh of a server comes from. */
export type ServerMesh =
  /** A folder of configuration, watched; with `manifests` the folder's Services and Pods are the mesh. */
  | { readonly folder: string; readonly manifests?: boolean }
  /** The API server in this access file. */
  | { readonly kubeconfig: string };

/** The server's use of resources so far, and its greatest delay since the last question. */
export interface ServerUsage extends Usage {
  /** Greatest lateness of a short timer in the server, ms. */
  readonly delay: number;
}

/** A running server. */
export interface ServerChild {
  readonly pid: number;
  /** `host:port` of discovery. */
  readonly target: string;
  /** Address of the pages, such as `http://127.0.0.1:8080`. */
  readonly pages: string;
  /** Cost from the start until ready. `seconds` is wall time. */
  readonly start: ServerUsage & { readonly seconds: number };
  /** Measures now. CPU is exact to the microsecond. */
  measure(): Promise<ServerUsage>;
  /** Resolves when the server has used hardly any CPU for a while. */
  idle(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Arguments of the runtime for the program in the form for images: a tree's bundle. For a tree without bundles: its
 * sources.
 */
async function programOf(tree: string): Promise<string[]> {
  const maker = `${tree}/scripts/bundle.ts`;
  const source = await Deno.readTextFile(maker).catch(() => "");
  if (!source.includes("bundleFlags")) return programArgs("pilot-discovery", tree);
  const { bundleFlags, bundleSpec }: typeof import("../../../scripts/bundle.ts") = await import(maker);
  const args = ["run", "--quiet", "--no-prompt", "--allow-read", "--allow-write=dist", "--allow-run=deno", maker];
  const made = await new Deno.Command("deno", { args: [...args, "pilot-discovery"], cwd: tree }).output();
  if (!made.success) throw new Error(`${maker}: ${new TextDecoder().decode(made.stderr)}`);
  return ["run", ...bundleFlags("pilot-discovery"), `${tree}/${bundleSpec("pilot-discovery").folder}/main.js`];
}

/** Starts `pilot-discovery` on a mesh as users do, with the probe inside. Resolves when ready. */
export async function startServer(
  mesh: ServerMesh,
  { tree = THIS_TREE, profile, analysis, meshConfig, tls, authority, webhooks = false, ambient = false }: ServerOptions,
): Promise<ServerChild> {
  const ofSources = profile !== undefined || analysis !== undefined;
  const [run, ...rest] = ofSources ? programArgs("pilot-discovery", tree) : await programOf(tree);
  const serving = Promise.withResolvers<{ readonly grpc: string; readonly http: string }>();
  const started = performance.now();
  const child = startLineChild([
    run!,
    `--preload=${new URL("probe.ts", import.meta.url).pathname}`,
    ...profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`],
    ...rest,
    "discovery",
    ...meshFlags(mesh),
    "--grpcAddr=127.0.0.1:0",
    "--httpAddr=127.0.0.1:0",
    "--monitoringAddr=127.0.0.1:0",
    "--secureGRPCAddr=",
    "--ctrlz_port=0",
    "--secureGRPCAddr=127.0.0.1:0",
    ...webhooks ? ["--httpsAddr="] : [],
    ...meshConfig === undefined ? [] : [`--meshConfig=${meshConfig}`],
    ...Object.entries(tls ?? {}).map(([flag, file]) => `--${flag}=${file}`),
    "--log_output_level=all:error,default:info",
  ], {
    cwd: tree,
    // Admission and throttling would slow down the storms that are measured here.
    env: {
      PILOT_MAX_REQUESTS_PER_SECOND: "100000",
      PILOT_PUSH_THROTTLE: "100",
      // What an earlier run has called is not handed to the proxies of this run.
      MESH_CALLS_DIR: "",
      ...authority === undefined ? {} : { ROOT_CA_DIR: authority },
      ...ambient ? { PILOT_ENABLE_AMBIENT: "true", XDS_AUTH: "false" } : {},
      ...analysis ?? true ? {} : { [WITHOUT_ANALYSIS]: tree },
    },
    isAnswer: (line) => line.startsWith(PROBE_PREFIX),
    other(line) {
      if (/\terror\t/.test(line)) console.error(line);
      const ports = /\tserving\tgrpc=(\d+)\thttp=(\d+)/.exec(line);
      const secure = /\tsecureGrpc=(\d+)/.exec(line)?.[1];
      if (ports) serving.resolve({ grpc: tls === undefined ? ports[1]! : secure ?? "", http: ports[2]! });
    },
  });
  const { pid } = child;
  const measure = async (): Promise<ServerUsage> => {
    const answer = JSON.parse((await child.ask("")).slice(PROBE_PREFIX.length)) as ProbeAnswer;
    return { ...await usage(pid), ...answer };
  };
  const { grpc, http } = await Promise.race([serving.promise, child.ended]);
  await Promise.race([untilReady(`http://127.0.0.1:${http}/ready`), child.ended]);
  const seconds = (performance.now() - started) / 1000;
  return {
    pid,
    target: `127.0.0.1:${grpc}`,
    pages: `http://127.0.0.1:${http}`,
    start: { seconds, ...await measure() },
    measure,
    // A profiler keeps the process busy all the time.
    idle: () => profile === undefined ? untilIdle(pid) : delay(2000),
    stop: () => child.stop("SIGTERM"),
  };
}

function meshFlags(mesh: ServerMesh): string[] {
  if ("folder" in mesh) return [`--registries=${mesh.manifests ? "File" : "Mock"}`, `--configDir=${mesh.folder}`];
  return ["--registries=Orch", `--orchconfig=${mesh.kubeconfig}`];
}

/**
 * Requests a page until success.
 *
 * @throws Without success within `patience` milliseconds.
 */
export async function untilReady(url: string, patience = READY_PATIENCE): Promise<void> {
  for (const end = performance.now() + patience; performance.now() < end;) {
    try {
      const response = await fetch(url);
      await response.body?.cancel();
      if (response.ok) return;
    } catch { /** The server does not listen yet. */ }
    await delay(20);
  }
  throw new Error(`the server was not ready within ${patience / 1000} s`);
}
