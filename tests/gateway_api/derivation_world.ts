/**
 * The derivation of the Gateway API over manifests, as a server runs it.
 *
 * @module
 */
import assert from "node:assert/strict";
import { DerivationEngine } from "../../lib/config/derive/engine.ts";
import { readFact } from "../../lib/config/facts/read.ts";
import { FactStore } from "../../lib/config/facts/store.ts";
import { defaultMeshConfig } from "../../lib/config/mesh/merge.ts";
import { parseObject } from "../../lib/config/object.ts";
import { ConfigStore } from "../../lib/config/store.ts";
import type { ConfigObject } from "../../lib/config/types.ts";
import { formatFinding } from "../../lib/finding/finding.ts";
import { gatewayApiDerivation } from "../../lib/gateway_api/groups/derivation.ts";
import type { GroupVerdicts } from "../../lib/gateway_api/groups/judged.ts";
import { GatewayApiVerdicts } from "../../lib/gateway_api/groups/verdicts.ts";
import { inFile } from "../config/origins.ts";
import { type Manifest, OPTIONS } from "./attach_world.ts";

/** A world with the derivation's verdicts and objects. */
export class DerivationWorld {
  readonly store = new ConfigStore();
  readonly verdicts = new GatewayApiVerdicts();
  readonly #facts = new FactStore();
  readonly #objects = this.store.addSource("Orch", 0);
  readonly #ofFacts = this.#facts.addSource("Orch", 0);

  /** @param manifests With an InferencePool among them, routes may lead to pools */
  constructor(...manifests: readonly Manifest[]) {
    this.put(...manifests);
    const options = { ...OPTIONS, inferencePools: manifests.some(({ kind }) => kind === "InferencePool") };
    const learned = (group: string, about: GroupVerdicts | undefined) => this.verdicts.learn(group, about);
    new DerivationEngine(gatewayApiDerivation(options, learned), {
      ...{ store: this.store, facts: this.#facts, mesh: defaultMeshConfig({ systemNamespace: "mesh-system" }) },
      target: this.store.addSource("derived", 1000),
      onFindings: ({ appeared }) => assert.deepEqual(appeared.map(formatFinding), []),
    });
  }

  /** Adds or replaces objects, as an API gives them, and Services. Mistakes throw. */
  put(...manifests: readonly Manifest[]): void {
    for (const manifest of manifests) {
      const isFact = manifest.kind === "Service";
      const read = isFact
        ? readFact("Service", manifest, inFile("a.yaml"), { digestKey: new Uint8Array(32), defaultNamespace: "shop" })
        : parseObject(manifest, { from: "api", source: "Orch", uid: "1" }, {
          defaultNamespace: "shop",
        });
      if ("fact" in read && read.fact !== undefined) this.#ofFacts.apply({ upserted: [read.fact], removed: [] });
      else if ("object" in read && read.object !== undefined) {
        this.#objects.apply({ upserted: [read.object], removed: [] });
      } else assert.fail(read.findings.map(formatFinding).join("\n"));
    }
  }

  remove(key: string): void {
    this.#objects.apply({ upserted: [], removed: [key] });
  }

  /** The derived VirtualServices by their hosts. */
  routes(): Map<string, ConfigObject<"VirtualService">> {
    return new Map(this.store.list("VirtualService").map((one) => [(one.spec.hosts ?? []).join(" "), one]));
  }
}

/** An object of the Gateway API. Default namespace: `shop`. */
export function apiObject(kind: string, name: string, spec: object, namespace = "shop", more: object = {}): Manifest {
  return { apiVersion: "gateway.networking.k8s.io/v1", kind, metadata: { name, namespace }, spec, ...more };
}

/** A Service with port 80. */
export function plainService(name: string, namespace = "shop"): Manifest {
  const spec = { ports: [{ port: 80, name: "http" }], selector: { app: name } };
  return { apiVersion: "v1", kind: "Service", metadata: { name, namespace }, spec };
}
