/**
 * Istio's server for comparison: the program in the variable `ISTIO_DISCOVERY`, built from commit 46aaf05beec.
 *
 * Permissions: env, run (that program, cat), net (loopback), write (a folder).
 *
 * @module
 */
import { untilReady } from "./server_child.ts";
import { delay, type Usage, usage } from "./usage.ts";

/** Name in the server's certificate. */
export const ISTIO_NAME = "istiod.istio-system.svc";
/** Time limit until the server listens, ms. */
const PATIENCE = 60_000;

/** A running server of Istio. */
export interface IstioChild {
  /** `host:port` of the secure port. */
  readonly target: string;
  /** Seconds from the start until ready. */
  readonly seconds: number;
  /** Resources used so far. */
  used(): Promise<Usage>;
  stop(): Promise<void>;
}

/**
 * Starts the server in a folder whose `etc/cacerts` may hold the authority. Resolves when ready.
 *
 * @param kubeconfig Access to the API server with the mesh. Default: none.
 * @returns Undefined if the variable is not set.
 */
export async function startIstio(folder: string, kubeconfig?: string): Promise<IstioChild | undefined> {
  const program = Deno.env.get("ISTIO_DISCOVERY");
  if (!program) return undefined;
  await Deno.mkdir(`${folder}/live`, { recursive: true });
  await Deno.writeTextFile(`${folder}/mesh.yaml`, "{}\n");
  const [secure, http] = [freePort(), freePort()];
  const mesh = kubeconfig === undefined
    ? ["--registries=", "--configDir", `${folder}/live`]
    : ["--registries=Kubernetes", "--kubeconfig", kubeconfig];
  const began = performance.now();
  const child = new Deno.Command(program, {
    args: [
      ...["discovery", ...mesh, "--meshConfig", `${folder}/mesh.yaml`],
      ...["--networksConfig", "/dev/null", "--httpsAddr", "", "--grpcAddr", "", "--monitoringAddr", ""],
      ...["--httpAddr", `127.0.0.1:${http}`, "--secureGRPCAddr", `127.0.0.1:${secure}`, "--ctrlz_port", "0"],
    ],
    cwd: folder,
    env: { PILOT_ENABLE_GATEWAY_API: "false", PILOT_CERT_PROVIDER: "istiod", POD_NAMESPACE: "istio-system" },
    stdout: "null",
    stderr: "null",
  }).spawn();
  const stop = async () => {
    child.kill("SIGTERM");
    await child.status;
  };
  const ended = child.status.then(({ code }) => Promise.reject(new Error(`${program} ended with exit status ${code}`)));
  ended.catch(() => {});
  try {
    // Without an API server Istio's server serves, but never reports readiness.
    if (kubeconfig !== undefined) await Promise.race([untilReady(`http://127.0.0.1:${http}/ready`, PATIENCE), ended]);
    await Promise.race([untilListening(secure), ended]);
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
  const seconds = (performance.now() - began) / 1000;
  return { target: `127.0.0.1:${secure}`, seconds, used: () => usage(child.pid), stop };
}

/** Istio's server does not support port 0 for all ports, so a recently free port is used. */
function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

async function untilListening(port: number): Promise<void> {
  for (const end = performance.now() + PATIENCE; performance.now() < end;) {
    try {
      (await Deno.connect({ hostname: "127.0.0.1", port })).close();
      return;
    } catch {
      await delay(100);
    }
  }
  throw new Error(`Istio's server did not listen within ${PATIENCE / 1000} s`);
}
