/**
 * Pods of tests that end with their application, and what the kubelet reports about their containers.
 *
 * Permissions: the permissions of the cluster.
 *
 * @module
 */
import { ECHO_IMAGE } from "./workloads.ts";

/** A pod's phase and containers, as the kubelet reports. */
export interface ObservedPod {
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly initContainers?: readonly { readonly name: string }[];
    readonly containers: readonly { readonly name: string }[];
  };
  readonly status: {
    readonly phase: string;
    readonly containerStatuses?: readonly ObservedContainer[];
    readonly initContainerStatuses?: readonly ObservedContainer[];
  };
}

interface ObservedContainer {
  readonly name: string;
  readonly state: { readonly terminated?: { readonly exitCode: number }; readonly running?: object };
}

/** Exit codes of the application and of the proxy; undefined: the container has not ended. */
export function exitCodes(
  { status }: ObservedPod,
): { readonly app: number | undefined; readonly proxy: number | undefined } {
  const all = [...status.initContainerStatuses ?? [], ...status.containerStatuses ?? []];
  const code = (wanted: string) => all.find(({ name }) => name === wanted)?.state.terminated?.exitCode;
  return { app: code("app"), proxy: code("mesh-proxy") };
}

/** A pod that ends with its application. */
export function podOf(
  namespace: string,
  name: string,
  { args, annotations = {}, labels = {}, container = {} }: {
    readonly args: readonly string[];
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly container?: object;
  },
): object {
  const app = { name: "app", image: ECHO_IMAGE, imagePullPolicy: "IfNotPresent", args, ...container };
  return {
    ...{ apiVersion: "v1", kind: "Pod", metadata: { name, namespace, annotations, labels } },
    spec: { restartPolicy: "Never", containers: [app] },
  };
}
