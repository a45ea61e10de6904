/**
 * Which statuses of the Gateway API's kinds this revision writes: the statuses of its own Gateways, and the entries of
 * objects that are attached to these Gateways. Two revisions never write the same entry.
 *
 * @module
 */
import type { FactStore } from "../../config/facts/store.ts";
import type { ConfigStore } from "../../config/store.ts";
import type { ConfigObject, ObjectMeta } from "../../config/types.ts";
import { gatewayKeyOf } from "../../gateway_api/attach/gateway_view.ts";
import { parentKind } from "../../gateway_api/groups/groups.ts";
import { isOwnGateway } from "../../gateway_api/deploy/managed.ts";
import { GATEWAY_API_GROUP } from "../../config/spelling/spelling.ts";
import type { EntryReference } from "../../gateway_api/status/parents.ts";
import type { TaggedRevisions } from "../../orch/leader/cluster_revisions.ts";

/** Inputs of ownership. */
export interface GatewayOwnerParts {
  readonly store: ConfigStore;
  readonly facts: FactStore;
  readonly revisions: () => TaggedRevisions;
}

/** The parts of an object that decide about its owner. */
export interface OwnedObject {
  readonly meta: Pick<ObjectMeta, "labels" | "namespace">;
}

export class GatewayOwner {
  readonly #parts: GatewayOwnerParts;

  constructor(parts: GatewayOwnerParts) {
    this.#parts = parts;
  }

  /** Whether this revision writes the status of an object, or at least an entry of it. */
  owns(object: ConfigObject): boolean {
    switch (object.kind) {
      case "ApiGateway":
      case "GatewayClass":
      case "XMesh":
        return this.#isLabelled(object);
      case "ListenerSet":
        return this.#ownsSet(object as ConfigObject<"ListenerSet">);
    }
    return true;
  }

  /**
   * Whether this revision writes the entry about a parent of a route or an ancestor of a policy. Nobody owns an entry
   * about a Gateway that is gone: every revision may remove the entry.
   */
  ownsEntry(object: OwnedObject, ref: Partial<EntryReference>): boolean {
    const { group = GATEWAY_API_GROUP, kind = "Gateway", namespace = object.meta.namespace, name = "" } = ref;
    switch (parentKind({ group, kind })) {
      case "Gateway":
        return this.#ownsGateway(namespace, name);
      case "ListenerSet": {
        const set = this.#parts.store.get("ListenerSet", namespace, name);
        return set === undefined || this.#ownsSet(set);
      }
    }
    return this.#isLabelled(object);
  }

  /** Whether this revision writes about an object by its own label. */
  ownsLabelled(object: OwnedObject): boolean {
    return this.#isLabelled(object);
  }

  #ownsGateway(namespace: string, name: string): boolean {
    const gateway = this.#parts.store.get("ApiGateway", namespace, name);
    return gateway === undefined || this.#isLabelled(gateway);
  }

  #ownsSet(set: ConfigObject<"ListenerSet">): boolean {
    const [, namespace = "", name = ""] = gatewayKeyOf(set)?.split("/") ?? [];
    return this.#ownsGateway(namespace, name);
  }

  #isLabelled({ meta: { labels, namespace } }: OwnedObject): boolean {
    const { facts, revisions } = this.#parts;
    const namespaceLabels = namespace === "" ? {} : facts.get("Namespace", "", namespace)?.meta.labels ?? {};
    return isOwnGateway({ labels, namespaceLabels }, revisions());
  }
}
