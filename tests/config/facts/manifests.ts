/** Manifests for tests: the smallest valid manifest of each kind, with a test's additions. */
import assert from "node:assert/strict";
import { readFact } from "../../../lib/config/facts/read.ts";
import { type AnyFact, FACT_API_VERSIONS, type FactKind } from "../../../lib/config/facts/types.ts";
import { formatFinding } from "../../../lib/finding/finding.ts";
import { inFile } from "../origins.ts";

/** An object in written form. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: FactKind;
  readonly metadata: Readonly<Record<string, unknown>>;
}

const TEMPLATE = { template: { metadata: {}, spec: { containers: [] } } };

const LEAST: Partial<Record<FactKind, Readonly<Record<string, unknown>>>> = {
  Service: { spec: {} },
  Pod: { spec: {} },
  Deployment: { spec: TEMPLATE },
  StatefulSet: { spec: TEMPLATE },
  DaemonSet: { spec: TEMPLATE },
  ReplicaSet: { spec: TEMPLATE },
  Job: { spec: TEMPLATE },
  CronJob: { spec: { jobTemplate: { spec: TEMPLATE } } },
};

/** A manifest; `more` replaces fields at the top, and adds to the metadata. */
export function manifest(
  kind: FactKind,
  namespace: string,
  name: string,
  more: Readonly<Record<string, unknown>> & { readonly metadata?: Readonly<Record<string, unknown>> } = {},
): Manifest {
  const metadata = { name, ...(namespace === "" ? {} : { namespace }), ...more.metadata };
  return { ...LEAST[kind], ...more, apiVersion: FACT_API_VERSIONS[kind], kind, metadata };
}

/** The fact of a manifest; a finding fails the test. */
export function fact(tree: Manifest, line = 1): AnyFact {
  const read = readFact(tree.kind, tree, inFile("a.yaml", line), { digestKey: new Uint8Array(32).fill(7) });
  assert.ok(read.fact !== undefined, read.findings.map(formatFinding).join());
  return read.fact;
}
