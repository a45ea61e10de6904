/**
 * Objects for tests of tunnel policies.
 *
 * @module
 */
import assert from "node:assert/strict";
import { parseObject } from "../../../lib/config/object.ts";
import type { ConfigObject } from "../../../lib/config/types.ts";
import { inFile } from "../../config/origins.ts";

export const ROOT = "mesh-system";

/** The trust domains of the tests' mesh. */
export const MESH = { rootNamespace: ROOT, trustDomain: "corp.example", trustDomainAliases: ["old.example"] };

/** An object as users write it. */
export interface WrittenPolicy<S = object> {
  readonly name: string;
  readonly namespace: string;
  readonly spec: S;
  /** Seconds of the creation; default 0. */
  readonly created?: number;
  readonly dryRun?: boolean;
}

/** A valid object. */
export function written<K extends "AuthorizationPolicy" | "PeerAuthentication">(
  kind: K,
  { name, namespace, spec, created = 0, dryRun = false }: WrittenPolicy,
): ConfigObject<K> {
  const metadata = {
    name,
    namespace,
    creationTimestamp: new Date(created * 1000).toISOString().replace(".000", ""),
    ...dryRun ? { annotations: { "istio.io/dry-run": "true" } } : {},
  };
  const tree = { apiVersion: "security.istio.io/v1", kind, metadata, spec };
  const { object, findings } = parseObject(tree, inFile("test"), { defaultNamespace: "default" });
  assert.ok(object, JSON.stringify(findings));
  return object as ConfigObject<K>;
}

/** A selector of workloads. */
export const selecting = (app: string) => ({ selector: { matchLabels: { app } } });
