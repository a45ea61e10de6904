/**
 * The endpoint picker as a program in a pod, in place of the picker whose image the manifests of the conformance suite name.
 * It takes the arguments of that picker: the names of the pool, and the ports. Connections are in plain text.
 *
 * The pool and its pods come from the API server, at most once a second. Ready pods with the labels of the pool's selector
 * count, on each target port.
 *
 * Permissions: net (its ports, the API server), read (the token and authority of the pod's account), env (the API server).
 *
 * @module
 */
import { parseArgs } from "node:util";
import { HealthService } from "../../../lib/grpc/health.ts";
import { GrpcServer } from "../../../lib/grpc/server.ts";
import type { GrpcService } from "../../../lib/grpc/service.ts";
import { listen } from "../../../lib/sockets/listen/tcp.ts";
import { SocketTransport } from "../../../lib/sockets/transport/socket.ts";
import { pickerService } from "./picker.ts";

/** The name under which the probes of the suite's manifests ask for the health. */
const PROBED = "inference-extension";

/** Longest age of the known endpoints, milliseconds. */
const AGE_MS = 1000;

/** Folder of the pod's account. */
const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

const { values } = parseArgs({
  options: {
    "pool-name": { type: "string", default: "" },
    "pool-namespace": { type: "string", default: "" },
    "grpc-port": { type: "string", default: "9002" },
    "grpc-health-port": { type: "string", default: "9003" },
  },
  // The manifests have further arguments, about plugins and logs.
  strict: false,
});

/** The parts of a pool that are read. */
interface Pool {
  readonly spec: {
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly targetPorts: readonly { readonly number: number }[];
  };
}

/** The parts of a pod that are read. */
interface Pod {
  readonly status: {
    readonly podIP?: string;
    readonly conditions?: readonly { readonly type: string; readonly status: string }[];
  };
}

const client = Deno.createHttpClient({ caCerts: [Deno.readTextFileSync(`${ACCOUNT}/ca.crt`)] });
const server = `https://${Deno.env.get("KUBERNETES_SERVICE_HOST")}:${Deno.env.get("KUBERNETES_SERVICE_PORT")}`;

async function get<T>(path: string): Promise<T> {
  const authorization = `Bearer ${await Deno.readTextFile(`${ACCOUNT}/token`)}`;
  const answer = await fetch(`${server}${path}`, { client, headers: { authorization } });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return await answer.json() as T;
}

async function readEndpoints(): Promise<readonly string[]> {
  const { "pool-name": name, "pool-namespace": namespace } = values;
  const pool = await get<Pool>(`/apis/inference.networking.k8s.io/v1/namespaces/${namespace}/inferencepools/${name}`);
  const { selector: { matchLabels }, targetPorts } = pool.spec;
  const labels = Object.entries(matchLabels).map(([key, value]) => `${key}=${value}`).join(",");
  const { items } = await get<{ readonly items: readonly Pod[] }>(
    `/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(labels)}`,
  );
  return items.flatMap(({ status: { podIP, conditions = [] } }) => {
    const isReady = conditions.some(({ type, status }) => type === "Ready" && status === "True");
    return podIP !== undefined && isReady ? targetPorts.map(({ number }) => `${podIP}:${number}`) : [];
  });
}

let known: { readonly at: number; readonly endpoints: Promise<readonly string[]> } | undefined;

/** The endpoints of the pool, at most a second old. A failed look is tried again with the next request. */
function endpoints(): Promise<readonly string[]> {
  const now = performance.now();
  if (known === undefined || now - known.at > AGE_MS) {
    const looked = { at: now, endpoints: readEndpoints() };
    known = looked;
    looked.endpoints.catch((error) => {
      console.error(`${error}`);
      if (known === looked) known = undefined;
    });
  }
  return known.endpoints;
}

async function serve(port: string, service: GrpcService): Promise<void> {
  const grpc = new GrpcServer([service], { onError: (error) => console.error(`${error}`) });
  await listen({ port: Number(port) }, (socket) => grpc.accept(new SocketTransport(socket)));
}

const health = new HealthService();
health.set(PROBED, "SERVING");
await serve(`${values["grpc-port"]}`, pickerService(endpoints));
await serve(`${values["grpc-health-port"]}`, health.service);
