/**
 * Ingresses through the real engine: manifests in, Gateways and VirtualServices out. A document `kind: World` has `mesh`,
 * fields of the mesh configuration.
 *
 * @module
 */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { DerivationEngine } from "../../lib/config/derive/engine.ts";
import type { Derivation } from "../../lib/config/derive/derivation.ts";
import { readFact } from "../../lib/config/facts/read.ts";
import { FactStore } from "../../lib/config/facts/store.ts";
import type { AnyFact, FactKind } from "../../lib/config/facts/types.ts";
import { type Finding, formatFinding } from "../../lib/finding/finding.ts";
import type { Origin } from "../../lib/finding/origin.ts";
import { defaultMeshConfig } from "../../lib/config/mesh/merge.ts";
import type { MeshConfig } from "../../lib/config/mesh/types.ts";
import { ConfigStore } from "../../lib/config/store.ts";
import { ingressDerivation } from "../../lib/ingress/derivation.ts";
import { inFile } from "../config/origins.ts";

/** An Ingress or an object in its references, in the form of a manifest. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>>;
  readonly spec?: unknown;
}

const DEFAULTS = defaultMeshConfig({ systemNamespace: "mesh-system" });

/** Reads a manifest as a fact; mistakes throw. */
export function fact(manifest: Manifest, origin: Origin = inFile("a.yaml", 1)): AnyFact {
  const { fact, findings } = readFact(manifest.kind as FactKind, manifest, origin, { digestKey: new Uint8Array(32) });
  assert.ok(fact !== undefined, findings.map(formatFinding).join("\n"));
  return fact;
}

/** A world of Ingresses. */
export class IngressWorld {
  readonly store = new ConfigStore();
  readonly facts = new FactStore();
  readonly #source = this.facts.addSource("folder", 0);
  readonly engine: DerivationEngine;
  readonly findings: Finding[] = [];
  /** Derivations since the list was emptied: keys of Ingresses, and hosts. */
  readonly derived: string[] = [];

  constructor(mesh: Partial<MeshConfig> = {}) {
    this.engine = new DerivationEngine(
      this.#noted(ingressDerivation({ namespace: "mesh-system", domain: "cluster.local", from: "file" })),
      {
        store: this.store,
        facts: this.facts,
        mesh: { ...DEFAULTS, ...mesh },
        target: this.store.addSource("ingress", 1000),
        onFindings: ({ appeared }) => this.findings.push(...appeared),
      },
    );
  }

  /** A world of the documents of a text. */
  static of(text: string): IngressWorld {
    const documents = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
    const own = documents.find(({ kind }) => kind === "World") as { readonly mesh?: Partial<MeshConfig> } | undefined;
    const world = new IngressWorld(own?.mesh);
    world.put(...documents.filter(({ kind }) => kind !== "World").map((one) => fact(one)));
    return world;
  }

  put(...facts: readonly AnyFact[]): void {
    this.#source.apply({ upserted: facts, removed: [] });
  }

  remove(...keys: readonly string[]): void {
    this.#source.apply({ upserted: [], removed: keys });
  }

  /** The mode in force. */
  mode: MeshConfig["ingressControllerMode"] = DEFAULTS.ingressControllerMode;

  mesh(fields: Partial<MeshConfig>): void {
    this.mode = fields.ingressControllerMode ?? DEFAULTS.ingressControllerMode;
    this.engine.meshChanged({ ...DEFAULTS, ...fields });
  }

  /** The present objects in the users' form, each with its source. */
  objects(): unknown[] {
    return [...this.store.list("Gateway"), ...this.store.list("VirtualService")].map((
      { kind, meta, spec, origin },
    ) => ({
      kind,
      name: `${meta.namespace}/${meta.name}`,
      ...(Object.keys(meta.annotations).length > 0 ? { annotations: meta.annotations } : {}),
      of: origin.from === "derived" ? origin.of : "",
      spec,
    }));
  }

  #noted(derivation: Derivation): Derivation {
    const { shared } = derivation;
    return {
      ...derivation,
      derive: (input, read) => {
        this.derived.push(input.key);
        return derivation.derive(input, read);
      },
      ...(shared && {
        shared: {
          ...shared,
          derive: (group, members, read) => {
            this.derived.push(group);
            return shared.derive(group, members, read);
          },
        },
      }),
    };
  }
}
