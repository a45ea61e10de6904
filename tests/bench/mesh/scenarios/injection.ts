/**
 * The webhook's cost of injecting a pod: from the text of the review to the text of the answer, as in Istio's own
 * benchmark of its injector, and with HTTP, measured in the server's process.
 *
 * Permissions: run (this runtime, cat), net (loopback), read, write (temporary folder).
 *
 * @module
 */
import { FactStore } from "../../../../lib/config/facts/store.ts";
import { parseMeshConfig } from "../../../../lib/config/mesh/parse.ts";
import { Injector } from "../../../../lib/discovery/injector/injector.ts";
import { readInjectionConfig } from "../../../../lib/injection/config.ts";
import type { InjectionSettings } from "../../../../lib/injection/types.ts";
import { readValues } from "../../../../lib/injection/values.ts";
import { silentLog } from "../../../../lib/kernel/log/log.ts";
import { createMetrics } from "../../../../lib/kernel/metrics/registry.ts";
import { readReview, reviewAnswer } from "../../../../lib/webhook/admission.ts";
import { atMost, figure } from "../figures.ts";
import { spread } from "../result.ts";
import { type ServerChild, startServer } from "../server_child.ts";
import type { Scenario } from "./scenario.ts";

/** Number of pods until the code is compiled, and number of counted pods per batch. */
const WARM_UP = 2000, COUNTED = 2000;

/** A pod of a Deployment: two containers with probes, an init container, a volume. */
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

/** Pods of a Deployment one after the other, each with a separate review. */
export const injection: Scenario = {
  name: "injection",
  async run(options) {
    const folder = await Deno.makeTempDir();
    const { tree, profile } = options;
    const given = { ...tree !== undefined && { tree }, ...profile !== undefined && { profile } };
    const server = await startServer({ folder }, { ...given, webhooks: true });
    try {
      const { result, calibration } = await options.calibrator.beside(async () => {
        const warmUp = options.quick ? WARM_UP / 10 : WARM_UP;
        await inject(server, warmUp);
        const rounds = Array.from({ length: options.rounds });
        const served: number[] = [];
        for (const _ of rounds) served.push(await cpuOfPod(server, COUNTED));
        const answer = newAnswer();
        timeOfPod(answer, warmUp);
        const alone = rounds.map(() => timeOfPod(answer, COUNTED));
        return { served: spread(served).median, alone: spread(alone).median };
      });
      return [{
        id: "injection",
        work: "a Deployment's pod with two containers is injected: review in, patch out",
        istio: "3.0 ms",
        figures: [
          figure("of a pod", "ms", result.alone, atMost(0.5)),
          figure("CPU of the server for a pod that comes by HTTP", "ms", result.served),
        ],
        calibrations: [calibration],
      }];
    } finally {
      await server.stop();
      await Deno.remove(folder, { recursive: true });
    }
  },
};

/** Answers a review's text as the webhook does, with the built-in configuration, without HTTP. */
function newAnswer(): (text: string) => string {
  const values = readValues(undefined);
  const config = readInjectionConfig(undefined);
  const mesh = parseMeshConfig("", { systemNamespace: "mesh-system" }).value;
  if (!("values" in values) || !("config" in config) || mesh === undefined) throw new Error("no configuration");
  const settings: InjectionSettings = {
    ...{ config: config.config, values: values.values, mesh, proxyConfigs: [], version: "1.0.0", revision: "" },
    ...{
      nativeSidecars: false,
      apiMinor: 33,
      platform: "",
      clusterId: "Orch",
      certProvider: "meshd",
      compliancePolicy: "",
    },
    ...{ rootConfigMap: "mesh-ca-root-cert", trustBundle: "" },
  };
  const injector = new Injector({
    settings: () => settings,
    facts: new FactStore(),
    metrics: createMetrics("pilot-discovery"),
    log: silentLog().scope("default"),
    clock: { monotonic: () => performance.now() },
  });
  return (text) => {
    const read = readReview(text);
    if ("problems" in read) throw new Error(read.problems.join());
    return JSON.stringify(reviewAnswer(read.apiVersion, read.request, injector.answer(read.request, "/inject")));
  };
}

/** Milliseconds per pod. The process does nothing else, so this is processor time. */
function timeOfPod(answer: (text: string) => string, pods: number): number {
  const texts = Array.from({ length: pods }, (_, pod) => reviewText(pod));
  const began = performance.now();
  for (const text of texts) answer(text);
  return (performance.now() - began) / pods;
}

function reviewText(pod: number): string {
  const resource = { group: "", version: "v1", resource: "pods" };
  const request = { uid: `uid-${pod}`, resource, operation: "CREATE", namespace: `shop-${pod % 10}`, object: POD };
  return JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request });
}

/** Milliseconds of the server's processor for a pod. */
async function cpuOfPod(server: ServerChild, pods: number): Promise<number> {
  const before = (await server.measure()).cpu;
  await inject(server, pods);
  return 1000 * ((await server.measure()).cpu - before) / pods;
}

/** @throws When an injected pod has no proxy. */
async function inject({ pages }: ServerChild, pods: number): Promise<void> {
  for (let pod = 0; pod < pods; pod++) {
    const answer = await fetch(`${pages}/inject`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: reviewText(pod),
    });
    const { response } = await answer.json();
    if (response?.allowed !== true || response.patch === undefined) {
      throw new Error(`pod ${pod}: got ${JSON.stringify(response)}, expected a patch`);
    }
  }
}
