/**
 * Small worlds of Gateways, routes and facts, written as manifests. `$CERTIFICATE`, `$KEY` and `$AUTHORITY` in a text stand
 * for base64 of a certificate, its key and its authority; `$AUTHORITY_TEXT` stands for PEM in one line of JSON.
 *
 * @module
 */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { readFact } from "../../lib/config/facts/read.ts";
import { FactStore } from "../../lib/config/facts/store.ts";
import type { AnyFact, FactKind } from "../../lib/config/facts/types.ts";
import { parseObject } from "../../lib/config/object.ts";
import { ConfigStore } from "../../lib/config/store.ts";
import type { AnyConfigObject, ConfigObject, Kind } from "../../lib/config/types.ts";
import { formatFinding } from "../../lib/finding/finding.ts";
import { gatewayKeyOf, setsGroup } from "../../lib/gateway_api/attach/gateway_view.ts";
import { backendTlsView } from "../../lib/gateway_api/attach/policies.ts";
import { resolve } from "../../lib/gateway_api/attach/backends.ts";
import { attachments } from "../../lib/gateway_api/attach/routes.ts";
import {
  type ApiRoute,
  type AttachOptions,
  type GatewayView,
  type ListenerView,
  ROUTE_KINDS,
  type RouteAtParent,
  type RouteKind,
  type ViewReader,
} from "../../lib/gateway_api/attach/types.ts";
import { GatewayViews } from "../../lib/gateway_api/attach/views.ts";
import { certificatePem, writePem } from "../../lib/pki/pem.ts";
import { inFile } from "../config/origins.ts";
import { makeLeaf, makeRoot } from "../pki/support/make.ts";

/** The options of worlds. */
export const OPTIONS: AttachOptions = {
  controllers: {
    "mesh.io/gateway-controller": "gateway",
    "istio.io/gateway-controller": "gateway",
    "mesh.io/mesh-controller": "waypoint",
    "mesh.io/eastwest-controller": "east-west",
    "mesh.io/unmanaged-gateway": "remote",
  },
  builtInClasses: {
    mesh: "mesh.io/gateway-controller",
    "mesh-waypoint": "mesh.io/mesh-controller",
    "mesh-remote": "mesh.io/unmanaged-gateway",
  },
  controllerName: "mesh.io/gateway-controller",
  domain: "cluster.local",
  allowsManualDeployment: true,
  servicesFromEntries: false,
  experimental: true,
  inferencePools: false,
  keepsSessions: true,
};

const root = await makeRoot();
const leaf = await makeLeaf(root);
const authority = certificatePem(root.certificate.der);

const TEXTS: Readonly<Record<string, string>> = {
  $CERTIFICATE: base64(certificatePem(leaf.certificate.der)),
  $KEY: base64(writePem("PRIVATE KEY", leaf.key.der())),
  $AUTHORITY_TEXT: JSON.stringify(authority),
  $AUTHORITY: base64(authority),
};

function base64(text: string): string {
  return new TextEncoder().encode(text).toBase64();
}

/** An object as written. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** The origin of objects: definitions of an API may be older, and take what a file may not have. */
const OF_API = { from: "api", source: "Orch", uid: "1" } as const;

/** A world. */
export class AttachWorld {
  readonly store = new ConfigStore();
  readonly facts = new FactStore();
  readonly #objects = this.store.addSource("folder", 0);
  readonly #facts = this.facts.addSource("folder", 0);
  readonly options: AttachOptions;
  readonly views: GatewayViews;
  readonly #setLists = new WeakMap<object, Map<string, readonly AnyConfigObject[]>>();
  /** Number of reads. */
  reads = 0;
  readonly read: ViewReader = {
    object: (kind, namespace, name) => (this.reads++, this.store.get(kind, namespace, name)),
    objects: (kind, namespace) => (this.reads++, this.store.list(kind, namespace)),
    fact: (kind, namespace, name) => (this.reads++, this.facts.get(kind, namespace, name)),
    members: (group) => (this.reads++, this.#members(group)),
  };

  constructor(text: string, options: Partial<AttachOptions> = {}) {
    this.options = { ...OPTIONS, ...options };
    this.views = new GatewayViews(this.options);
    this.put(text);
  }

  /** The ListenerSets of a Gateway: the same list until a ListenerSet changes. */
  #members(group: string): readonly AnyConfigObject[] {
    const all = this.store.list("ListenerSet");
    const lists = this.#setLists.getOrInsertComputed(all, () => new Map());
    return lists.getOrInsertComputed(
      group,
      () => all.filter((set) => setsGroup(gatewayKeyOf(set) ?? "") === group) as readonly AnyConfigObject[],
    );
  }

  /** Adds or replaces objects and facts. Mistakes throw. Objects without a namespace are in `infra`. */
  put(text: string): void {
    const filled = Object.entries(TEXTS).reduce((all, [mark, value]) => all.replaceAll(mark, value), text);
    const documents = parseAllDocuments(filled).map((document) => document.toJS() as Manifest | null);
    this.putTrees(documents.filter((one) => one !== null));
  }

  /** Adds or replaces objects and facts. */
  putTrees(manifests: readonly Manifest[]): void {
    const objects: ConfigObject[] = [];
    const facts: AnyFact[] = [];
    for (const manifest of manifests) {
      const { apiVersion, kind } = manifest;
      if (/k8s\.io\//.test(apiVersion) || apiVersion.includes("istio.io/")) {
        const { object, findings } = parseObject(manifest, OF_API, { defaultNamespace: "infra" });
        assert.ok(object !== undefined, findings.map(formatFinding).join("\n"));
        objects.push(object);
      } else {
        const options = { digestKey: new Uint8Array(32), defaultNamespace: "infra" };
        const { fact, findings } = readFact(kind as FactKind, manifest, inFile("a.yaml"), options);
        assert.ok(fact !== undefined, findings.map(formatFinding).join("\n"));
        facts.push(fact);
      }
    }
    this.#objects.apply({ upserted: objects, removed: [] });
    this.#facts.apply({ upserted: facts, removed: [] });
  }

  /** Adds or replaces objects that are read already. */
  putObjects(objects: readonly ConfigObject[]): void {
    this.#objects.apply({ upserted: objects, removed: [] });
  }

  remove(...keys: readonly string[]): void {
    this.#objects.apply({ upserted: [], removed: keys });
    this.#facts.apply({ upserted: [], removed: keys });
  }

  object<K extends Kind>(kind: K, name: string, namespace = "infra"): ConfigObject<K> {
    const found = this.store.get(kind, namespace, name);
    assert.ok(found !== undefined, `${kind}/${namespace}/${name} is not in the world`);
    return found;
  }

  /** The view of a Gateway of namespace `infra`. */
  view(name: string): GatewayView {
    const found = this.views.of(this.object("ApiGateway", name), this.read);
    assert.ok(found !== undefined, `Gateway ${name} belongs to nobody`);
    return found;
  }

  /** All routes, sorted by kind and key. */
  routes(): ApiRoute[] {
    return ROUTE_KINDS.flatMap((kind) => this.store.list(kind) as readonly ConfigObject[] as readonly ApiRoute[]);
  }

  route(kind: RouteKind, name: string, namespace = "infra"): ApiRoute {
    return this.object(kind, name, namespace) as ConfigObject as ApiRoute;
  }

  attachments(route: ApiRoute): RouteAtParent[] {
    return attachments(route, { read: this.read, options: this.options, views: this.views });
  }

  resolve(route: ApiRoute, parents: "gateway" | "mesh" = "gateway") {
    return resolve(route, { read: this.read, options: this.options, parents });
  }

  policy(name: string) {
    return backendTlsView(this.object("BackendTLSPolicy", name), this.read, this.options);
  }
}

/** A verdict in one word, or two: `Accepted`, `not RefNotPermitted`. */
export function word({ status, reason }: { readonly status: string; readonly reason: string }): string {
  return status === "True" ? reason : `not ${reason}`;
}

/** The conditions of listeners by name, each in a line: accepted, programmed, resolvedRefs. */
export function listenerLines(listeners: readonly ListenerView[]): Record<string, string> {
  return Object.fromEntries(
    listeners.map((one) => [
      one.spec.name,
      [one.accepted, one.programmed, one.resolvedRefs].map(word).join(", "),
    ]),
  );
}

/** Where a route is attached: `listener: hostnames`. */
export function boundLines(at: RouteAtParent): string[] {
  return at.bound.map(({ listener, hostnames }) => `${listener.spec.name}: ${hostnames.join(" ")}`);
}
