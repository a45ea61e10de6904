/**
 * Probes that the agent makes in the orchestrator's place: the JSON of `MESH_ORCH_APP_PROBERS`, written by injection.
 *
 * @module
 */
import * as z from "zod";
import { issueLines } from "../../kernel/json/issues.ts";
import { requestTarget } from "../../kernel/text/request_target.ts";

const NUMBER = "a port number from 1 to 65535";
const number = z.int({ error: NUMBER }).min(1, { error: NUMBER }).max(65535, { error: NUMBER });
const text = z.string({ error: "a text" });
const SECONDS = "a whole number of seconds, 0 or more";

const PROBER = z.object({
  httpGet: z.object({
    path: text.nullish(),
    port: number,
    host: text.nullish(),
    scheme: z.enum(["HTTP", "HTTPS", ""], { error: "HTTP or HTTPS" }).nullish(),
  }, { error: "an object with port" }).nullish(),
  tcpSocket: z.object({ port: number }, { error: "an object with port" }).nullish(),
  grpc: z.object({ port: number, service: text.nullish() }, { error: "an object with port" }).nullish(),
  timeoutSeconds: z.int({ error: SECONDS }).min(0, { error: SECONDS }).nullish(),
}, { error: "an object" }).refine(
  ({ httpGet, tcpSocket, grpc }) =>
    [httpGet, tcpSocket, grpc].filter((one) => one !== undefined && one !== null).length === 1,
  { error: "exactly one of httpGet, tcpSocket, grpc" },
);

const PATH = "/app-health/CONTAINER/livez, readyz or startupz, or /app-lifecycle/CONTAINER/prestopz or poststartz";
const PROBERS = z.record(
  z.string().regex(/^\/(?:app-health|app-lifecycle)\/[^/]+\/(?:livez|readyz|startupz|prestopz|poststartz)$/),
  PROBER,
  { error: "an object, from path to probe" },
);

/** A probe. */
export interface AppProber {
  readonly probe:
    | { readonly type: "http"; readonly secure: boolean; readonly port: number; readonly target: string }
    | { readonly type: "tcp"; readonly port: number }
    | { readonly type: "grpc"; readonly port: number; readonly service: string };
  /** Milliseconds; undefined: as long as the caller waits. */
  readonly timeout: number | undefined;
}

/** Probes by the path of their request, or the mistakes, a line each. */
export type ReadProbers = { readonly probers: ReadonlyMap<string, AppProber> } | { readonly faults: readonly string[] };

/** Reads the value of `MESH_ORCH_APP_PROBERS`; an empty value means no probes. */
export function readAppProbers(json: string): ReadProbers {
  const variable = (line: string) => `variable MESH_ORCH_APP_PROBERS: ${line}`;
  if (json === "") return { probers: new Map() };
  let tree: unknown;
  try {
    tree = JSON.parse(json);
  } catch (error) {
    return { faults: [variable(`expected JSON: ${(error as Error).message}`)] };
  }
  const { success, data, error } = PROBERS.safeParse(tree, { reportInput: true });
  if (!success) {
    const issues = error.issues.map((issue) =>
      issue.code === "invalid_key" ? { path: [], message: PATH, input: issue.path.at(-1) } : issue
    );
    return { faults: issueLines(issues, "path").map(variable) };
  }
  const probers = new Map<string, AppProber>();
  const faults: string[] = [];
  for (const [path, prober] of Object.entries(data)) {
    try {
      probers.set(path, appProber(path, prober));
    } catch (error) {
      faults.push(variable(`[${JSON.stringify(path)}].${(error as Error).message}`));
    }
  }
  return faults.length > 0 ? { faults } : { probers };
}

/** Timeout of a probe without `timeoutSeconds`, ms: Kubernetes' default. The kubelet waits no longer either. */
const DEFAULT_TIMEOUT = 1000;

/** @throws Error naming the field */
function appProber(path: string, { httpGet, tcpSocket, grpc, timeoutSeconds }: z.infer<typeof PROBER>): AppProber {
  const isHook = path.startsWith("/app-lifecycle/");
  const timeout = timeoutSeconds ? timeoutSeconds * 1000 : isHook ? undefined : DEFAULT_TIMEOUT;
  if (tcpSocket) return { probe: { type: "tcp", port: tcpSocket.port }, timeout };
  if (grpc) return { probe: { type: "grpc", port: grpc.port, service: grpc.service ?? "" }, timeout };
  const { scheme, port, path: wanted } = httpGet!;
  const target = requestTarget(wanted ?? "");
  if (target === undefined) throw new Error(`httpGet.path: got ${JSON.stringify(wanted)}, expected the path of a URL`);
  return { probe: { type: "http", secure: scheme === "HTTPS", port, target }, timeout };
}
