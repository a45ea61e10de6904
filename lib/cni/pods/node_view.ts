/**
 * The pods of a node and the labels of all namespaces, kept up to date by the orchestrator's watches.
 *
 * Permissions: the permissions of the client.
 *
 * @module
 */
import type { ApiClient } from "../../orch/client/client.ts";
import { Informer } from "../../orch/informer/informer.ts";
import type { ApiResource } from "../../orch/informer/resource.ts";
import { type Pod, readPod } from "./pod.ts";

/** Called with changes. */
export interface NodeListeners {
  /** A pod came, changed, or went. */
  pod(type: "add" | "update" | "delete", pod: Pod): void;
  /** The labels of a namespace may have changed. */
  namespace(name: string): void;
  /** The API could not be asked. */
  troubled(why: string): void;
}

/** The present state, and its changes. */
export interface NodeView {
  /** Begins. Resolves when all pods and namespaces are known. No listener is called before that. */
  start(listeners: NodeListeners): Promise<void>;
  pods(): readonly Pod[];
  pod(namespace: string, name: string): Pod | undefined;
  /** Undefined: there is no such namespace. */
  namespaceLabels(name: string): Readonly<Record<string, string>> | undefined;
  stop(): Promise<void>;
}

/** The view of a client. */
export function watchedNode(
  client: ApiClient,
  resources: { readonly pods: ApiResource; readonly namespaces: ApiResource },
  node: string,
): NodeView {
  let listeners: NodeListeners | undefined;
  const troubled = ({ message }: Error) => listeners?.troubled(message);
  const fieldSelector = `spec.nodeName=${node}`;
  const pods = new Informer<Pod>(client, { resource: resources.pods, fieldSelector, project: readPod, troubled });
  const namespaces = new Informer<Pod>(client, { resource: resources.namespaces, project: readPod, troubled });
  return {
    async start(heard) {
      listeners = heard;
      pods.start();
      namespaces.start();
      await Promise.all([pods.whenSynced, namespaces.whenSynced]);
      const known = new Set([...pods.values()].map(({ uid }) => uid));
      pods.subscribe(({ upserted, removed }) => {
        for (const { value, uid } of removed) {
          known.delete(uid);
          heard.pod("delete", value);
        }
        for (const { value, uid } of upserted) {
          heard.pod(known.has(uid) ? "update" : "add", value);
          known.add(uid);
        }
      });
      namespaces.subscribe(({ upserted, removed }) => {
        for (const { name } of [...removed, ...upserted]) heard.namespace(name);
      });
    },
    pods: () => [...pods.values()].map(({ value }) => value),
    pod: (namespace, name) => pods.get(namespace, name)?.value,
    namespaceLabels: (name) => namespaces.get("", name)?.value.labels,
    stop: async () => void await Promise.all([pods.stop(), namespaces.stop()]),
  };
}
