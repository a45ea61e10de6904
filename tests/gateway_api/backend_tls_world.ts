/**
 * BackendTLSPolicies through the real engine: objects and manifests in, DestinationRules out.
 *
 * @module
 */
import assert from "node:assert/strict";
import { DerivationEngine } from "../../lib/config/derive/engine.ts";
import { readFact } from "../../lib/config/facts/read.ts";
import { FactStore } from "../../lib/config/facts/store.ts";
import type { FactKind } from "../../lib/config/facts/types.ts";
import { OPTIONS } from "./attach_world.ts";
import { defaultMeshConfig } from "../../lib/config/mesh/merge.ts";
import { parseObject } from "../../lib/config/object.ts";
import { ConfigStore } from "../../lib/config/store.ts";
import type { AnyConfigObject, ConfigObject } from "../../lib/config/types.ts";
import { type Finding, formatFinding } from "../../lib/finding/finding.ts";
import { backendTlsView } from "../../lib/gateway_api/attach/policies.ts";
import type { AttachReader } from "../../lib/gateway_api/attach/types.ts";
import { backendTlsDerivation } from "../../lib/gateway_api/derive/backend_tls.ts";
import { inFile } from "../config/origins.ts";

/** A manifest. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** A world of policies. */
export class BackendTlsWorld {
  readonly store = new ConfigStore();
  readonly facts = new FactStore();
  readonly findings: Finding[] = [];
  readonly #objects = this.store.addSource("folder", 0);
  readonly #facts = this.facts.addSource("folder", 0);

  constructor(...manifests: readonly Manifest[]) {
    this.put(...manifests);
    new DerivationEngine(backendTlsDerivation(OPTIONS), {
      store: this.store,
      facts: this.facts,
      mesh: defaultMeshConfig({ systemNamespace: "mesh-system" }),
      target: this.store.addSource("derived", 1000),
      onFindings: ({ appeared }) => this.findings.push(...appeared),
    });
  }

  /** Adds or replaces manifests. Mistakes throw. */
  put(...manifests: readonly Manifest[]): void {
    for (const manifest of manifests) {
      if (["Service", "ConfigMap", "Secret"].includes(manifest.kind)) this.#putFact(manifest);
      else this.#putObject(manifest);
    }
  }

  remove(key: string): void {
    this.#objects.apply({ upserted: [], removed: [key] });
    this.#facts.apply({ upserted: [], removed: [key] });
  }

  /** The derived rules. */
  rules(): readonly ConfigObject<"DestinationRule">[] {
    assert.deepEqual(this.findings.map(formatFinding), []);
    return this.store.list("DestinationRule").filter(({ spec }) => spec.internal !== undefined);
  }

  /** All objects in force. */
  objects(): readonly AnyConfigObject[] {
    this.rules();
    return [...this.store.list("DestinationRule"), ...this.store.list("ServiceEntry")] as readonly AnyConfigObject[];
  }

  /** Status and reason of the condition Accepted at the first target of a policy of namespace `shop`. */
  accepted(name: string): readonly string[] {
    const reader: AttachReader = {
      object: (kind, namespace, name) => this.store.get(kind, namespace, name),
      objects: (kind, namespace) => this.store.list(kind, namespace),
      fact: (kind, namespace, name) => this.facts.get(kind, namespace, name),
    };
    const policy = this.store.get("BackendTLSPolicy", "shop", name);
    assert.ok(policy);
    const { status, reason } = backendTlsView(policy, reader, OPTIONS).targets[0]!.accepted;
    return [status, reason];
  }

  #putFact(manifest: Manifest): void {
    const { fact, findings } = readFact(manifest.kind as FactKind, manifest, inFile("test"), {
      digestKey: new Uint8Array(32),
    });
    assert.ok(fact, findings.map(formatFinding).join("\n"));
    this.#facts.apply({ upserted: [fact], removed: [] });
  }

  #putObject(manifest: Manifest): void {
    const { object, findings } = parseObject(manifest, inFile("test"), { defaultNamespace: "default" });
    assert.ok(object, findings.map(formatFinding).join("\n"));
    this.#objects.apply({ upserted: [object], removed: [] });
  }
}

/** A policy of namespace `shop`. @param age The age, smaller is older. */
export function policy(name: string, validation: object, targets: readonly (string | object)[], age = 0): Manifest {
  const creationTimestamp = new Date(Date.UTC(2026, 0, 1, 0, 0, age)).toISOString();
  const targetRefs = targets.map((one) => {
    if (typeof one !== "string") return one;
    const [service, sectionName] = one.split(":");
    return { group: "", kind: "Service", name: service, ...(sectionName ? { sectionName } : {}) };
  });
  return {
    apiVersion: "gateway.networking.k8s.io/v1",
    kind: "BackendTLSPolicy",
    metadata: { name, namespace: "shop", creationTimestamp },
    ...{ spec: { targetRefs, validation } },
  };
}

/** References to ConfigMaps. */
export function roots(...names: readonly string[]): object {
  return { caCertificateRefs: names.map((name) => ({ group: "", kind: "ConfigMap", name })) };
}

/** A Service of namespace `shop` with ports by name. */
export function service(name: string, ports: Readonly<Record<string, number>>): Manifest {
  const spec = { ports: Object.entries(ports).map(([name, port]) => ({ name, port, targetPort: port })) };
  return { apiVersion: "v1", kind: "Service", metadata: { name, namespace: "shop" }, ...{ spec } };
}
