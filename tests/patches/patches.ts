/**
 * Patches from plain data, for tests of their effects.
 *
 * @module
 */
import assert from "node:assert/strict";
import { parseObject } from "../../lib/config/object.ts";
import type { ConfigObject } from "../../lib/config/types.ts";
import { type CompiledFilter, compileFilter } from "../../lib/patches/compile.ts";
import type { CompiledPatch } from "../../lib/patches/types.ts";
import { inFile } from "../config/origins.ts";

/** A patch in written form. */
export interface WrittenPatch {
  readonly applyTo: string;
  readonly match?: object;
  readonly patch: { readonly operation: string; readonly value?: object };
}

/** A ProxyFilter with the given patches. */
export function filterOf(...configPatches: readonly WrittenPatch[]): ConfigObject<"ProxyFilter"> {
  const tree = {
    apiVersion: "networking.mesh.io/v1alpha3",
    kind: "ProxyFilter",
    metadata: { name: "f", namespace: "x" },
    spec: { configPatches },
  };
  const { object, findings } = parseObject(tree, inFile("test"), { defaultNamespace: "x" });
  assert.ok(object, JSON.stringify(findings));
  return object as ConfigObject<"ProxyFilter">;
}

/** The compiled form of patches. */
export function compiledOf(...written: readonly WrittenPatch[]): CompiledFilter {
  return compileFilter(filterOf(...written));
}

/** Patches without a problem. */
export function patchesOf(...written: readonly WrittenPatch[]): readonly CompiledPatch[] {
  const { patches, problems } = compiledOf(...written);
  assert.deepEqual(problems, []);
  return patches;
}

/** Collects outcomes of patches: `0` for an applied patch, `0: why` for a failed patch. */
export class Outcomes {
  readonly heard: string[] = [];
  /** Receives an outcome. */
  readonly report = ({ patch, error }: { patch: CompiledPatch; error?: string }): void => {
    this.heard.push(error === undefined ? `${patch.index}` : `${patch.index}: ${error}`);
  };
}
