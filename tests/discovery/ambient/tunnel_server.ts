/**
 * A server's resources of node tunnels over stores, without a wire.
 * @module
 */
import assert from "node:assert/strict";
import { AMBIENT_CONFIGURATION, AMBIENT_FACTS } from "../../../lib/ambient/objects.ts";
import { WAYPOINT_POLICIES } from "../../../lib/mesh/waypoints/policies.ts";
import { FactStore } from "../../../lib/config/facts/store.ts";
import { type AnyFact, isFactKind } from "../../../lib/config/facts/types.ts";
import { ConfigStore } from "../../../lib/config/store.ts";
import type { AnyConfigObject } from "../../../lib/config/types.ts";
import { TunnelView } from "../../../lib/discovery/ambient/tunnel_views.ts";
import { TunnelResources } from "../../../lib/discovery/ambient/tunnels.ts";
import { ResourceTable } from "../../../lib/resource/set.ts";
import { SETTINGS } from "../../ambient/support/world.ts";

/** A server's resources of tunnels over stores, and its tunnels. */
export class TunnelServer {
  readonly #facts = new FactStore();
  readonly #store = new ConfigStore();
  readonly #factSource = this.#facts.addSource("facts", 0);
  readonly #source = this.#store.addSource("objects", 0);
  readonly #table = new ResourceTable();
  readonly resources: TunnelResources;

  constructor() {
    this.resources = new TunnelResources(SETTINGS, {
      mesh: { rootNamespace: "mesh-system", trustDomain: "cluster.local", trustDomainAliases: [] },
      table: this.#table,
      changed() {},
      failed: (error) => assert.fail(String(error)),
    });
    this.resources.follow(this.#facts, AMBIENT_FACTS);
    this.resources.follow(this.#store, [...AMBIENT_CONFIGURATION, ...WAYPOINT_POLICIES, "PeerAuthentication"]);
  }

  /** Puts an object, or removes the object of its key. */
  change(object: AnyFact | AnyConfigObject, isRemoved: boolean): void {
    const { key, kind } = object;
    if (isFactKind(kind)) {
      this.#factSource.apply({ upserted: isRemoved ? [] : [object as AnyFact], removed: isRemoved ? [key] : [] });
    } else {this.#source.apply({
        upserted: isRemoved ? [] : [object as AnyConfigObject],
        removed: isRemoved ? [key] : [],
      });}
  }

  /** A source of views of tunnels on node `n1`. */
  get source() {
    const place = { id: "ztunnel~1.1.1.1~z.mesh-system~d", node: "n1" };
    const home = { namespace: "mesh-system", clusterId: "Kubernetes" };
    return { table: this.#table, connect: () => new TunnelView(place, this.resources, undefined, home) };
  }
}
