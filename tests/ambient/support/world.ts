/**
 * Worlds of objects for tests of the resources of node tunnels.
 *
 * @module
 */
import assert from "node:assert/strict";
import { AddressSet } from "../../../lib/ambient/address_set.ts";
import { AmbientIndex } from "../../../lib/ambient/index.ts";
import type { AmbientSettings } from "../../../lib/ambient/parts.ts";
import { parseDocument } from "../../../lib/config/document/document.ts";
import type { AnyFact } from "../../../lib/config/facts/types.ts";
import type { AnyConfigObject } from "../../../lib/config/types.ts";
import { unpaced } from "../../../lib/kernel/time/paced.ts";
import { readable } from "../../../lib/pb/reflect.ts";
import type { EncodedResource } from "../../../lib/resource/encoded.ts";
import { ResourceTable } from "../../../lib/resource/set.ts";
import ipaddr from "ipaddr.js";

/** The settings of a server with the default settings, without policies. */
export const SETTINGS: AmbientSettings = {
  clusterId: "Kubernetes",
  domain: "cluster.local",
  systemNamespace: "mesh-system",
  rootNamespace: () => "mesh-system",
  trustDomain: () => "cluster.local",
  selectPods: true,
  selectWorkloadEntries: true,
  opensWithoutWaypoint: false,
  policies: () => [],
  assigned: ({ assigned = [] }) => assigned,
  failed: (part, error) => assert.fail(`${part}: ${error}`),
};

/** An object of a world. */
export type WorldObject = AnyFact | AnyConfigObject;

const digestKey = new Uint8Array(32);

/** The objects of a text with several documents. All documents must be valid. */
export function objectsOf(text: string): WorldObject[] {
  return text.split(/^---$/m).flatMap((document, at) => {
    const place = { source: "world", file: `${at}.yaml`, line: 1, format: "yaml" } as const;
    const { objects, facts, findings } = parseDocument(document, place, {
      defaultNamespace: "default",
      facts: { digestKey },
    });
    const faults = findings.filter(({ severity }) => severity === "error");
    assert.deepEqual(faults, [], document);
    assert.ok(objects.length + facts.length > 0, `no object in ${document}`);
    return [...objects, ...facts] as WorldObject[];
  });
}

/** An index with its set. */
export class TunnelWorld {
  readonly index: AmbientIndex;
  readonly #set: AddressSet;

  constructor(settings: Partial<AmbientSettings> = {}) {
    this.index = new AmbientIndex({ ...SETTINGS, ...settings });
    this.#set = new AddressSet(this.index, new ResourceTable());
  }

  put(...objects: readonly WorldObject[]): this {
    for (const object of objects) this.index.put(object);
    return this;
  }

  /** The resources after all changes. */
  resources(): readonly EncodedResource[] {
    unpaced(this.#set.settle());
    return [...this.#set.set].sort((a, b) => a.name < b.name ? -1 : 1);
  }

  /** The readable resources by name. */
  readable(): Record<string, unknown> {
    return Object.fromEntries(this.resources().map((one) => [one.name, readableAddress(one)]));
  }
}

/** A resource with its aliases, and with addresses as text. */
export function readableAddress({ aliases, value }: EncodedResource): unknown {
  const message = withTexts(readable("istio.workload.Address", value));
  return { ...aliases.length === 0 ? {} : { aliases }, ...message as object };
}

function withTexts(value: unknown, key = ""): unknown {
  if (Array.isArray(value)) return value.map((one) => withTexts(one, key));
  if (typeof value === "string" && (key === "address" || key === "addresses")) {
    return ipaddr.fromByteArray([...Uint8Array.fromBase64(value)]).toString();
  }
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withTexts(one, name)]));
}
