/**
 * Finds the traces of Istio's injector on a pod. Both control planes may run in a cluster while namespaces move from one
 * to the other, and a pod has exactly one proxy.
 *
 * @module
 */
import { istioKey } from "../../config/spelling/istio.ts";
import type { InjectedPod } from "../pod.ts";
import { istioNames } from "../names.ts";
import { readStatus, STATUS } from "./status.ts";

/** Istio's spelling of the annotation. Only Istio's injector writes this key. */
const ISTIO_STATUS = istioKey(STATUS);

/**
 * Why a pod with Istio's proxy gets no proxy, and the advice for the pod's author; or why the pod is refused.
 * Undefined: Istio's injector has not added containers.
 */
export type OtherInjection =
  | { readonly reason: string; readonly warning: string }
  | { readonly problem: string }
  | undefined;

/**
 * Looks for Istio's injector. An annotation without the annotated containers does not count: it was copied from
 * another pod.
 */
export function otherInjection({ metadata: { annotations = {} }, spec }: InjectedPod): OtherInjection {
  if (!Object.hasOwn(annotations, ISTIO_STATUS)) return undefined;
  const status = readStatus(annotations[ISTIO_STATUS]);
  const added = status === undefined ? istioNames() : status.containers.union(status.initContainers);
  const isInjected = [...spec.containers, ...spec.initContainers ?? []].some(({ name }) => added.has(name));
  if (!isInjected) return undefined;
  if (Object.hasOwn(annotations, STATUS)) {
    return {
      problem:
        `annotations ${STATUS} and ${ISTIO_STATUS}: got a pod with the proxies of two injectors, expected the annotation and the containers of one injector`,
    };
  }
  return {
    reason: "Istio's injector has added its proxy",
    warning:
      "the pod keeps the proxy of Istio's injector and gets no second proxy; to move the pod, remove the labels istio-injection and istio.io/rev from the namespace, and sidecar.istio.io/inject and istio.io/rev from the pod",
  };
}
