/**
 * Workloads of tests: servers that echo, clients with load, and single requests.
 *
 * @module
 */
import assert from "node:assert/strict";
import { until } from "./waiting.ts";
import { rolledOut, ROLLOUT } from "./mesh.ts";
import type { ClusterHandle } from "./handle.ts";

/** The image of `tests/cluster/echo`. */
export const ECHO_IMAGE = "docker.io/local/echo:1";

/** Settings of a workload. */
export interface WorkloadOptions {
  readonly namespace: string;
  readonly name: string;
  /** Default: 1. */
  readonly replicas?: number;
  /** Arguments of the program. Default: the program serves. */
  readonly args?: readonly string[];
  /** Default: v1. */
  readonly version?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
  /** Further fields of the pod. They replace fields of the default pod. */
  readonly pod?: Readonly<Record<string, unknown>>;
  /** Further fields of the container. They replace fields of the default container. */
  readonly container?: Readonly<Record<string, unknown>>;
}

/** Fields of a workload that PodSecurity `restricted` admits. */
export const UNPRIVILEGED = {
  pod: { securityContext: { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } } },
  container: { securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ["ALL"] } } },
} as const;

/** A Deployment with its Service (HTTP at port 80, TCP at port 9000). */
export function echoObjects(options: WorkloadOptions): Record<string, unknown>[] {
  const { namespace, name, replicas = 1, args = ["serve"], version = "v1", labels = {}, annotations = {} } = options;
  const serves = args[0] === "serve";
  const container = {
    name: "app",
    image: ECHO_IMAGE,
    imagePullPolicy: "IfNotPresent",
    args,
    resources: { requests: { cpu: "50m" } },
    env: [
      { name: "VERSION", value: version },
      { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
    ],
    ...serves
      ? { readinessProbe: { httpGet: { path: "/ready", port: 8080 }, periodSeconds: 1, timeoutSeconds: 5 } }
      : {},
    ...options.container,
  };
  const all = { app: name, version, ...labels };
  const spec = { terminationGracePeriodSeconds: 30, containers: [container], ...options.pod };
  const ports = [{ name: "http", port: 80, targetPort: 8080 }, { name: "tcp", port: 9000 }];
  return [
    {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name, namespace },
      spec: {
        replicas,
        selector: { matchLabels: { app: name } },
        template: { metadata: { labels: all, annotations }, spec },
      },
    },
    ...serves
      ? [{ apiVersion: "v1", kind: "Service", metadata: { name, namespace }, spec: { selector: { app: name }, ports } }]
      : [],
  ];
}

/** Fields of a pod. Puts each pod of an app on a node of its own. */
export function apart(app: string): Record<string, unknown> {
  const term = { topologyKey: "kubernetes.io/hostname", labelSelector: { matchLabels: { app } } };
  return { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] } } };
}

/** Applies objects. */
export async function applyObjects(cluster: ClusterHandle, objects: readonly unknown[]): Promise<void> {
  await cluster.apply(JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
}

/** A policy with the mode STRICT for all workloads of a namespace. */
export function strictPolicy(namespace: string): Record<string, unknown> {
  return {
    apiVersion: "security.mesh.io/v1",
    kind: "PeerAuthentication",
    metadata: { name: "default", namespace },
    spec: { mtls: { mode: "STRICT" } },
  };
}

/** Applies a Deployment with its Service, and waits until its pods are ready. */
export async function deployEcho(cluster: ClusterHandle, options: WorkloadOptions): Promise<void> {
  await applyObjects(cluster, echoObjects(options));
  await rolledOut(cluster, options.namespace, `deployment/${options.name}`);
}

/** The counts that a load prints at its end. */
export interface LoadResult {
  readonly sent: number;
  readonly failed: number;
  /** Answers by the version of the answering pod. */
  readonly versions: Readonly<Record<string, number>>;
  /** The first failures, each with its time. */
  readonly failures: readonly { readonly at: string; readonly error: string }[];
  /** Hashes of the callers' client certificates, as the servers saw them. */
  readonly certificates: readonly string[];
  readonly slowestMs: number;
}

/**
 * Processor share of the load's client, and of its proxy: the client is the measure of a test, and the start of many pods
 * must not slow the client down.
 */
const CLIENT_CPU = "1";

/** A load of requests from a pod. */
export interface Load {
  /** Waits until the given number of requests have ended. */
  reached(count: number): Promise<void>;
  /** Waits until servers have seen more client certificates of the load: so many more than now. */
  renewed(more: number): Promise<void>;
  /** Ends the load. @returns its counts */
  end(): Promise<LoadResult>;
}

/**
 * Starts a load from a new pod. Resolves when the first requests have succeeded.
 *
 * @param rate Requests a second.
 * @param fresh Whether each request has a connection of its own. Default: no.
 */
export async function startLoad(
  cluster: ClusterHandle,
  { namespace, url, rate = 100, name = "load", fresh = false, ...options }: {
    readonly namespace: string;
    readonly url: string;
    readonly rate?: number;
    readonly name?: string;
    readonly fresh?: boolean;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly pod?: Readonly<Record<string, unknown>>;
  },
): Promise<Load> {
  const args = ["load", url, "--rate", String(rate), "--await-first", ...fresh ? ["--fresh"] : []];
  const annotations = { "sidecar.mesh.io/proxyCPU": CLIENT_CPU, ...options.annotations };
  const container = { resources: { requests: { cpu: CLIENT_CPU } } };
  const [deployment] = echoObjects({ namespace, name, args, ...options, annotations, container });
  const { spec: { template } } = deployment as { spec: { template: { metadata: object; spec: object } } };
  const spec = { ...template.spec, restartPolicy: "Never" };
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { ...template.metadata, name, namespace }, spec };
  await applyObjects(cluster, [pod]);
  await cluster.kubectl(["--namespace", namespace, "wait", "--for=condition=Ready", `pod/${name}`, ROLLOUT]);
  const lines = async (...flags: readonly string[]): Promise<LoadLine[]> =>
    (await cluster.kubectl(["--namespace", namespace, "logs", name, "--container=app", ...flags])).trim().split("\n")
      .filter((line) => line !== "").map((line) => JSON.parse(line));
  await until("a request of the load succeeds", async () => {
    return (await lines("--tail=1")).some(({ done = 0, failed = 0 }) => done > failed);
  });
  const countsTo = async (what: string, count: number, field: "done" | "certificates") => {
    for (let value = 0; value < count;) {
      const before = value;
      await until(`${what}: more than ${before}`, async () => {
        value = (await lines("--tail=1")).at(-1)?.[field] ?? 0;
        return value > before;
      });
    }
  };
  const reached = (count: number) => countsTo("requests of the load", count, "done");
  const renewed = async (more: number) => {
    const now = (await lines("--tail=1")).at(-1)?.certificates ?? 0;
    await countsTo("certificates of the load", now + more, "certificates");
  };
  const end = async () => {
    const follow = lines("--follow", "--tail=1");
    const exec = ["--namespace", namespace, "exec", name, "--container=app", "--"];
    await cluster.kubectl([...exec, "sh", "-c", "kill -TERM 1"]);
    const { summary } = (await follow).at(-1)!;
    await cluster.kubectl(["--namespace", namespace, "delete", "pod", name, "--grace-period=0", "--force"]);
    return summary!;
  };
  return { reached, renewed, end };
}

/** A line of a load: the counts so far, or the summary at the end. */
interface LoadLine {
  readonly done?: number;
  readonly failed?: number;
  readonly certificates?: number;
  readonly summary?: LoadResult;
}

/** The answer to a single request. */
export interface EchoAnswer {
  /** 0: no answer. */
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly error?: string;
}

/** The container that sends a request. Default of the container: `app`. */
export interface Client {
  readonly namespace: string;
  readonly workload: string;
  readonly container?: string;
}

/**
 * Sends requests until an answer has status 200.
 *
 * A ready pod serves at the address of its Service only when the node's rules have the pod, which is a moment later.
 *
 * @returns that answer
 */
export async function served(cluster: ClusterHandle, from: Client, url: string): Promise<EchoAnswer> {
  let answer: EchoAnswer = { status: 0 };
  await until(`${url} answers ${from.workload} of ${from.namespace}`, async () => {
    answer = await request(cluster, from, url);
    return answer.status === 200;
  });
  return answer;
}

/** Sends one request from the container of a workload. */
export async function request(cluster: ClusterHandle, from: Client, url: string): Promise<EchoAnswer> {
  const { namespace, workload, container = "app" } = from;
  const script = ["deno", "run", "--quiet", "--no-config", "--cached-only", "--allow-net", "--allow-env"];
  const path = "/usr/local/lib/echo/main.ts";
  const exec = ["--namespace", namespace, "exec", workload, `--container=${container}`, "--"];
  const { out, err } = await cluster.tryKubectl([...exec, ...script, path, "get", url]);
  assert.ok(out.trim() !== "", `no answer of the client: ${err}`);
  return JSON.parse(out.trim().split("\n").at(-1)!);
}
