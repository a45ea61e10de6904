/**
 * What the webhook needs to inject a pod: from the bytes of the review to those of the patch.
 *
 * Permissions: run (this runtime, cat), net (loopback), read, write (temporary folder).
 *
 * @module
 */
import { atMost, figure } from "../figures.ts";
import { spread } from "../result.ts";
import { type ServerChild, startServer } from "../server_child.ts";
import type { Scenario } from "./scenario.ts";

/** Pods until the code is compiled, and pods that are counted in one batch. */
const WARM_UP = 2000, COUNTED = 2000;

/** A pod as a Deployment makes it: two containers with probes, an init container, a volume. */
const POD = {
  metadata: {
    generateName: "cart-5d8f9c7b6d-",
    labels: { app: "cart", version: "v1", "pod-template-hash": "5d8f9c7b6d" },
    annotations: { "prometheus.io/scrape": "true", "prometheus.io/port": "9090" },
    ownerReferences: [{
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      name: "cart-5d8f9c7b6d",
      uid: "7",
      controller: true,
    }],
  },
  spec: {
    serviceAccountName: "cart",
    volumes: [{ name: "kube-api-access-x", projected: { sources: [{ serviceAccountToken: { path: "token" } }] } }],
    initContainers: [{ name: "migrate", image: "cart:1", args: ["migrate"] }],
    containers: ["cart", "audit"].map((name, index) => ({
      ...{ name, image: `${name}:1`, ports: [{ name: "http", containerPort: 8080 + index, protocol: "TCP" }] },
      env: Array.from({ length: 10 }, (_, at) => ({ name: `KEY_${at}`, value: `value ${at}` })),
      resources: { requests: { cpu: "100m", memory: "128Mi" }, limits: { memory: "256Mi" } },
      readinessProbe: { httpGet: { path: "/ready", port: "http" }, periodSeconds: 5 },
      livenessProbe: { httpGet: { path: "/live", port: 8080 + index } },
      volumeMounts: [{ name: "kube-api-access-x", mountPath: "/var/run/secrets/kubernetes.io/serviceaccount" }],
    })),
  },
};

/** Pods of a Deployment one after the other, each by a review of its own. */
export const injection: Scenario = {
  name: "injection",
  async run(options) {
    const folder = await Deno.makeTempDir();
    const { tree, profile } = options;
    const given = { ...tree !== undefined && { tree }, ...profile !== undefined && { profile } };
    const server = await startServer({ folder }, { ...given, webhooks: true });
    try {
      const { result: ms, calibration } = await options.calibrator.beside(async () => {
        await inject(server, options.quick ? WARM_UP / 10 : WARM_UP);
        const batches: number[] = [];
        for (let round = 0; round < options.rounds; round++) batches.push(await cpuOfPod(server, COUNTED));
        return spread(batches).median;
      });
      return [{
        id: "injection",
        work: "a Deployment's pod with two containers is injected: review in, patch out",
        istio: "3.0 ms",
        figures: [figure("CPU of a pod", "ms", ms, atMost(0.5))],
        calibrations: [calibration],
      }];
    } finally {
      await server.stop();
      await Deno.remove(folder, { recursive: true });
    }
  },
};

/** Milliseconds of the server's processor for a pod. */
async function cpuOfPod(server: ServerChild, pods: number): Promise<number> {
  const before = (await server.measure()).cpu;
  await inject(server, pods);
  return 1000 * ((await server.measure()).cpu - before) / pods;
}

/** @throws when a pod does not come out with its proxy */
async function inject({ pages }: ServerChild, pods: number): Promise<void> {
  const resource = { group: "", version: "v1", resource: "pods" };
  for (let pod = 0; pod < pods; pod++) {
    const request = { uid: `uid-${pod}`, resource, operation: "CREATE", namespace: `shop-${pod % 10}`, object: POD };
    const answer = await fetch(`${pages}/inject`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request }),
    });
    const { response } = await answer.json();
    if (response?.allowed !== true || response.patch === undefined) {
      throw new Error(`pod ${pod}: got ${JSON.stringify(response)}, expected a patch`);
    }
  }
}
