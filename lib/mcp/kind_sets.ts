/**
 * The objects in force as resources, one set per kind, for clients that ask for configuration instead of Envoy's
 * resources. Each object is encoded once for all clients.
 *
 * @module
 */
import { KIND_WIRE_TYPES, type KindWireType } from "./wire_types.ts";
import { isMadeOfGatewayApi } from "../config/derive/made_of_gateway_api.ts";
import type { HttpMatchRequest, HttpRoute } from "../config/kinds/kinds.ts";
import { encodeField } from "../config/schema/encode.ts";
import { KIND_TABLE } from "../config/kinds/table.ts";
import { inIstioSpelling } from "../config/spelling/istio.ts";
import type { ChangeSet } from "../config/store.ts";
import { type ConfigObject, isKind, type Kind, UNDATED } from "../config/types.ts";
import { withoutEnd } from "../kernel/text/edges.ts";
import { type EncodedResource, encodeResource } from "../resource/encoded.ts";
import { type ResourceSet, ResourceTable } from "../resource/set.ts";
import { kindTypeUrl, writeWireObject } from "./kind_codec.ts";

/** Most objects in a step, for a step of some milliseconds. */
const ENCODED_AT_ONCE = 20;

/** Called with an object that Istio's messages cannot hold. */
export type UnwrittenListener = (object: ConfigObject, error: unknown) => void;

export class KindSets {
  readonly #sets = new Map<string, ResourceSet>();
  readonly #unwritten: UnwrittenListener;
  /**
   * Keys of objects that changed during the first filling of the sets: the filling's versions are older. Undefined: the
   * sets are filled.
   */
  #newer: Set<string> | undefined = new Set();
  #changes = 0;

  constructor(unwritten: UnwrittenListener) {
    this.#unwritten = unwritten;
    const table = new ResourceTable();
    for (const type of KIND_WIRE_TYPES) this.#sets.set(kindTypeUrl(type), table.empty);
  }

  /** Increases whenever a set changes. */
  get changes(): number {
    return this.#changes;
  }

  /** All objects of a type URL; undefined: the type URL belongs to no kind. */
  get(typeUrl: string): ResourceSet | undefined {
    return this.#sets.get(typeUrl);
  }

  /** Takes objects of each kind, in steps between which the event loop may turn. */
  *fill(list: (kind: Kind) => readonly ConfigObject[]): Generator<void, void> {
    for (const type of KIND_WIRE_TYPES) {
      const objects = list(type.kind as Kind);
      const resources: EncodedResource[] = [];
      for (const object of objects) {
        resources.push(...this.#encoded(type, object));
        if (resources.length % ENCODED_AT_ONCE === 0) yield;
      }
      this.#change(type, resources.filter(({ causes: [key = ""] }) => !this.#newer?.has(key)), []);
    }
    this.#newer = undefined;
  }

  /** Takes a change of the store. */
  take({ added, updated, removed }: ChangeSet): void {
    const now = [...added, ...updated.map((update) => update.new)];
    for (const { key } of [...now, ...removed]) this.#newer?.add(key);
    for (const type of KIND_WIRE_TYPES) {
      const upserts = now.filter(({ kind }) => kind === type.kind).flatMap((object) => this.#encoded(type, object));
      const gone = removed.filter(({ kind }) => kind === type.kind).map(nameOf);
      if (upserts.length + gone.length > 0) this.#change(type, upserts, gone);
    }
  }

  #change(type: KindWireType, upserts: readonly EncodedResource[], gone: readonly string[]): void {
    const typeUrl = kindTypeUrl(type);
    const before = this.#sets.get(typeUrl)!;
    const after = before.with(upserts, gone);
    if (after === before) return;
    this.#sets.set(typeUrl, after);
    this.#changes++;
  }

  /** One resource, or none if the object cannot be encoded. */
  #encoded(type: KindWireType, object: ConfigObject): EncodedResource[] {
    const { kind, key, meta: { namespace, name, labels, annotations, creationTimestamp }, hash: version } = object;
    const spec = outgoingSpec(object);
    if (spec === undefined) return [];
    try {
      const { type_url, value } = writeWireObject(type, {
        ...{ namespace, name, version },
        ...(creationTimestamp >= UNDATED ? {} : { created: creationTimestamp }),
        labels: inIstioSpelling(labels) as typeof labels,
        annotations: inIstioSpelling(annotations) as typeof annotations,
        spec: inIstioSpelling(encodeField(KIND_TABLE[kind].schema, spec)) as object,
      });
      return [encodeResource(type_url, nameOf(object), value, { causes: [key] })];
    } catch (error) {
      this.#unwritten(object, error);
      return [];
    }
  }
}

function nameOf({ meta: { namespace, name } }: ConfigObject): string {
  return `${namespace}/${name}`;
}

/**
 * The spec of an object in Istio's messages, which have no place for the internal fields of derived objects. Undefined: the
 * messages cannot say what the object means, and other control planes would read another object. Such objects are derived
 * from the Gateway API: their Gateways are for single namespaces, and their DestinationRules hold only TLS to backends.
 */
function outgoingSpec(object: ConfigObject): ConfigObject["spec"] | undefined {
  if (isMadeOfGatewayApi(object)) return undefined;
  if (!isKind(object, "VirtualService") || object.spec.internal === undefined) return object.spec;
  const { internal: _, ...spec } = object.spec;
  return { ...spec, ...(spec.http && { http: spec.http.map(withTextPrefixes) }) };
}

/** A rule whose prefixes are texts in place of whole segments. */
function withTextPrefixes(rule: HttpRoute): HttpRoute {
  return { ...rule, ...(rule.match && { match: rule.match.flatMap(textPrefixes) }) };
}

/** The segments `/cart` are the path `/cart`, and the paths that begin with `/cart/`. */
function textPrefixes(match: HttpMatchRequest): readonly HttpMatchRequest[] {
  const path = withoutEnd(match.uri?.prefix ?? "", "/");
  if (path === "") return [match];
  return [{ ...match, uri: { exact: path } }, { ...match, uri: { prefix: `${path}/` } }];
}
