/**
 * Credentials that configuration names, for the proxies that may read them: over the stream, as they ask, and again when
 * the objects change.
 *
 * A proxy may read the Secrets of the namespace of its proven identity, and authorities in ConfigMaps of any; of Secrets that
 * come from an API, those that its account may list there. Without an identity it gets nothing. A proxy of a remote cluster
 * gets the objects of its cluster, and where there are none of a name those of the server's own, as its cluster's API allows.
 * Credentials for registries of images, which extension configurations of a proxy name, may be Secrets of other namespaces:
 * of those that come from an API, a proxy gets the ones that its account may get there.
 *
 * A credential that is refused or cannot be used is counted, and named in the log once for each stream.
 *
 * @module
 */
import type { ChangeSet } from "../../config/store.ts";
import type { FactStore } from "../../config/facts/store.ts";
import type { AnyFact, Fact, FactKind } from "../../config/facts/types.ts";
import { encode } from "../../pb/codec.ts";
import { SmallMultimap } from "../../registry/small_multimap.ts";
import { type EncodedResource, encodeResource } from "../../resource/encoded.ts";
import type { ResourceTable } from "../../resource/set.ts";
import { TYPE } from "../../translate/encode/encode.ts";
import { certificateOrAuthorities, type CredentialMessage, registrySecret } from "./envoy_secret.ts";
import { type FoundCredential, ProxyCredentials } from "./proxy_credentials.ts";
import { type CredentialReference, credentialReference, registryReference } from "./reference.ts";
import type { SecretName, SecretRights } from "./secret_rights.ts";

const SECRET_MESSAGE = "envoy.extensions.transport_sockets.tls.v3.Secret";

/** How objects are used. */
interface CredentialUse {
  readonly reference: (resource: string, namespace: string) => CredentialReference | undefined;
  readonly message: (resource: string, fact: AnyFact, reference: CredentialReference) => CredentialMessage;
  /** The API is asked for each Secret, whichever namespace it is of. */
  readonly eachAlone: boolean;
}

const CERTIFICATES: CredentialUse = {
  reference: credentialReference,
  message: (name, fact, { authorities }) => certificateOrAuthorities(name, fact, authorities),
  eachAlone: false,
};

const REGISTRIES: CredentialUse = { reference: registryReference, message: registrySecret, eachAlone: true };

/** The proxy that asks, with its proven identity. */
export interface CredentialReader {
  /** Namespace of the proven identity; absent: there is none. */
  readonly namespace?: string;
  /** Its service account. */
  readonly account?: string;
  /** Its cluster, as it says. Default: the server's own. */
  readonly cluster?: string;
  /** Its node, for the log. */
  readonly name: string;
}

/** The rights of accounts, as credentials ask about them. */
export type AskedRights = Pick<SecretRights, "of" | "leave">;

/** Objects of one cluster, and the rights to read them. */
export interface ClusterCredentials {
  /** Undefined: nothing has been read yet. */
  readonly facts: FactStore | undefined;
  /** Decides which accounts may read Secrets of an API. Default: each account, in its namespace. */
  readonly rights?: AskedRights | undefined;
}

/** The server's side of credentials. */
export interface CredentialsOptions extends ClusterCredentials {
  /** Those of the server's own cluster. */
  readonly facts: FactStore;
  readonly table: ResourceTable;
  /** A remote cluster by its name; `own`: it is none, `unknown`: nobody can be asked for the rights of its proxies. Default: all are `own`. */
  readonly clusters?: ((name: string) => ClusterCredentials | "own" | "unknown") | undefined;
  /** Whether an object is refused and has no version in force, by its key. Default: no. */
  readonly isRefused?: ((key: string) => boolean) | undefined;
  /**
   * Called for each credential that a proxy asked for and does not get, with the reason: each reason once for each stream.
   *
   * @param count how many these were of the stream
   */
  readonly refused: (reader: CredentialReader, resource: string, why: string, count: number) => void;
}

/** By name. */
type MadeCredentials = Map<string, EncodedResource | { readonly why: string }>;

export class Credentials {
  readonly #options: CredentialsOptions;
  /** By key of the object that is looked for, there or not. */
  readonly #readers = new SmallMultimap<string, ProxyCredentials>();
  readonly #made = new Map([CERTIFICATES, REGISTRIES].map((use) => [use, new WeakMap<AnyFact, MadeCredentials>()]));
  readonly #stop: () => void;

  constructor(options: CredentialsOptions) {
    this.#options = options;
    this.#stop = options.facts.subscribe((changes) => this.changed(changes));
  }

  /** Objects of a cluster have changed. */
  changed({ added, updated, removed }: Pick<ChangeSet<Fact>, "added" | "updated" | "removed">): void {
    const changed = [...added, ...removed, ...updated.map((one) => one.new)];
    for (const { key } of changed) for (const reader of this.#readers.get(key)) reader.lookAgain(key);
  }

  /** A cluster came or went. */
  lookAgainAtAll(): void {
    const readers = new Set<ProxyCredentials>();
    for (const [, some] of this.#readers.entries()) for (const reader of some) readers.add(reader);
    for (const reader of readers) reader.lookAgainAtAll();
  }

  /** The credentials of one stream. @param changed Called when other ones are there for it. */
  open(reader: CredentialReader, changed: () => void): ProxyCredentials {
    return this.#open(reader, changed, CERTIFICATES);
  }

  /** The credentials for registries of one stream, likewise; generic secrets, which it is never sent as they are. */
  openRegistries(reader: CredentialReader, changed: () => void): ProxyCredentials {
    return this.#open(reader, changed, REGISTRIES);
  }

  #open(reader: CredentialReader, changed: () => void, use: CredentialUse): ProxyCredentials {
    const { namespace = "", account = "" } = reader;
    const asked = new Set<AskedRights>();
    const rightOf: RightOf = (rights, secret) => {
      asked.add(rights);
      return rights.of(namespace, account, lookAgain, secret);
    };
    let refusals = 0;
    const lookAgain = () => own.lookAgainAtAll();
    const own: ProxyCredentials = new ProxyCredentials(this.#options.table.empty, {
      changed,
      find: (resource, watch) => this.#find(reader, resource, watch, use, rightOf),
      closed: () => {
        for (const rights of asked) rights.leave(lookAgain);
      },
      refused: (resource, why) => this.#options.refused(reader, resource, why, ++refusals),
      watch: (key, credentials) => this.#readers.add(key, credentials),
      unwatch: (key, credentials) => this.#readers.delete(key, credentials),
    });
    return own;
  }

  /** No more changes. */
  stop(): void {
    this.#stop();
  }

  /** The cluster of a reader; undefined: it is not known. */
  #homeOf({ cluster }: CredentialReader): ClusterCredentials | undefined {
    const { clusters } = this.#options;
    const home = cluster === undefined || clusters === undefined ? "own" : clusters(cluster);
    return home === "own" ? this.#options : home === "unknown" ? undefined : home;
  }

  #find(
    reader: CredentialReader,
    resource: string,
    watch: (key: string) => void,
    use: CredentialUse,
    rightOf: RightOf,
  ): FoundCredential {
    const { namespace, account = "" } = reader;
    if (namespace === undefined) {
      return { why: "the proxy has not proven who it is (plain connection, or none of its own)" };
    }
    const reference = use.reference(resource, namespace);
    if (reference === undefined) return { why: "the name is none of a credential" };
    const elsewhere = reference.kind === "Secret" && reference.namespace !== namespace;
    const whyElsewhere = `the Secret is of namespace ${reference.namespace}, the proxy's identity of ${namespace}`;
    if (elsewhere && !use.eachAlone) return { why: whyElsewhere };
    for (const name of reference.names) watch(`${reference.kind}/${reference.namespace}/${name}`);
    const home = this.#homeOf(reader);
    const fact = home?.facts && factOf(home.facts, reference) || factOf(this.#options.facts, reference);
    if (fact === undefined) return { why: absence(reference, this.#options.isRefused) };
    const fromApi = reference.kind === "Secret" && fact.origin.from === "api";
    if (fromApi && home === undefined) {
      return { why: `its cluster ${reader.cluster} is not known here, whose API says who may` };
    }
    const rights = fromApi ? home?.rights : undefined;
    if (elsewhere && rights === undefined) return { why: whyElsewhere };
    if (rights !== undefined) {
      const secret = use.eachAlone ? { namespace: reference.namespace, name: fact.meta.name } : undefined;
      const right = rightOf(rights, secret);
      if (right === "unknown") return { why: undefined };
      const what = secret ? `get secret ${secret.namespace}/${secret.name}` : `list secrets of namespace ${namespace}`;
      if (right === "denied") return { why: `the API does not allow account ${account} to ${what}` };
    }
    return this.#resource(resource, fact, reference, use);
  }

  /** Made once for each version of the object, for all that ask by that name. */
  #resource(
    name: string,
    fact: AnyFact,
    reference: CredentialReference,
    use: CredentialUse,
  ): EncodedResource | { readonly why: string } {
    const made = this.#made.get(use)!;
    let byName = made.get(fact);
    if (!byName) made.set(fact, byName = new Map());
    const known = byName.get(name);
    if (known) return known;
    const message = use.message(name, fact, reference);
    const found = "why" in message
      ? { why: `${fact.key} ${message.why}` }
      : encodeResource(TYPE.secret, name, encode(SECRET_MESSAGE, message.secret), { causes: [fact.key] });
    byName.set(name, found);
    return found;
  }
}

/** The object that a reference leads to. */
export function factOf(
  facts: Pick<FactStore, "get">,
  { kind, namespace, names }: CredentialReference,
): AnyFact | undefined {
  for (const name of names) {
    const fact = facts.get<FactKind>(kind, namespace, name);
    if (fact) return fact as AnyFact;
  }
}

/** Why no object is in force that a reference leads to: none is there, or its text is refused. */
export function absence(
  { kind, namespace, names }: CredentialReference,
  isRefused: ((key: string) => boolean) | undefined,
): string {
  const refused = names.find((name) => isRefused?.(`${kind}/${namespace}/${name}`));
  return refused === undefined
    ? `there is no ${kind} ${namespace}/${names.at(-1)}`
    : `the text of ${kind} ${namespace}/${refused} is refused`;
}

/** Gives the right of a stream's account. */
type RightOf = (rights: AskedRights, secret: SecretName | undefined) => ReturnType<SecretRights["of"]>;
