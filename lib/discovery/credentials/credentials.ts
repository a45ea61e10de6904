/**
 * Credentials that configuration names, for the proxies that may read them. Credentials are sent over the stream when a
 * proxy asks, and again when the objects change.
 *
 * A proxy may read:
 *
 * - the Secrets in the namespace of its proven identity; when the Secrets come from an API, only if the proxy's service
 *   account may list the Secrets of the namespace
 * - authorities in ConfigMaps of every namespace
 * - Secrets that a derived Gateway of the proxy's workload names, whatever their namespace and the rights of the proxy's
 *   service account
 * - Secrets of other namespaces that an extension configuration names as credentials for a registry of images, if they
 *   come from an API and the service account may get the Secret
 *
 * Without a proven identity a proxy gets nothing. A proxy of a remote cluster gets the objects of its cluster. When the
 * cluster has no object of a name, the proxy gets the object of the server's own cluster. The API of the proxy's
 * cluster decides the rights.
 *
 * A credential that is refused or cannot be used is counted, and named in the log once for each stream.
 *
 * @module
 */
import { changedObjects, type ChangeSet } from "../../config/store.ts";
import type { FactStore } from "../../config/facts/store.ts";
import type { AnyFact, Fact, FactKind } from "../../config/facts/types.ts";
import { encode } from "../../pb/codec.ts";
import { sameItems } from "../../incremental/same_items.ts";
import { SmallMultimap } from "../../registry/small_multimap.ts";
import { type EncodedResource, encodeResource } from "../../resource/encoded.ts";
import type { ResourceTable } from "../../resource/set.ts";
import { TYPE } from "../../translate/encode/encode.ts";
import { certificateOrAuthorities, type CredentialMessage, registrySecret, togetherMessage } from "./envoy_secret.ts";
import type { GatewaySecrets } from "./gateway_secrets.ts";
import { type FoundCredential, ProxyCredentials } from "./proxy_credentials.ts";
import { type CredentialReference, credentialReferences, registryReference } from "./reference.ts";
import type { SecretName, SecretRights } from "./secret_rights.ts";

const SECRET_MESSAGE = "envoy.extensions.transport_sockets.tls.v3.Secret";

/** How objects are used. */
interface CredentialUse {
  /** Undefined: the name is not the name of a credential. Several: all count together. */
  readonly references: (resource: string, namespace: string) => readonly CredentialReference[] | undefined;
  readonly message: (resource: string, fact: AnyFact, reference: CredentialReference) => CredentialMessage;
  /** Whether the API is asked for each Secret, whatever the namespace. */
  readonly eachAlone: boolean;
}

const CERTIFICATES: CredentialUse = {
  references: credentialReferences,
  message: (name, fact, { authorities }) => certificateOrAuthorities(name, fact, authorities),
  eachAlone: false,
};

const REGISTRIES: CredentialUse = { references: registryReference, message: registrySecret, eachAlone: true };

/** The asking proxy, with its proven identity. */
export interface CredentialReader {
  /** Namespace of the proven identity; absent: no identity is proven. */
  readonly namespace?: string;
  /** Service account of the proven identity. */
  readonly account?: string;
  /** The cluster that the proxy names. Default: the server's own cluster. */
  readonly cluster?: string;
  /** Labels of the workload, as the proxy names them. Default: none. */
  readonly labels?: Readonly<Record<string, string>>;
  /** The proxy's node, for the log. */
  readonly name: string;
}

/** The part of {@linkcode SecretRights} that credentials use. */
export type AskedRights = Pick<SecretRights, "of" | "leave">;

/** Objects of one cluster, and the rights to read them. */
export interface ClusterCredentials {
  /** Undefined: nothing has been read yet. */
  readonly facts: FactStore | undefined;
  /** Decides which accounts may read Secrets of an API. Default: each account may read the Secrets of its namespace. */
  readonly rights?: AskedRights | undefined;
}

/** The server's side of credentials. */
export interface CredentialsOptions extends ClusterCredentials {
  /** Objects of the server's own cluster. */
  readonly facts: FactStore;
  readonly table: ResourceTable;
  /**
   * Finds a remote cluster by name. `own` is the server's own cluster. `unknown`: no API can be asked for the rights of
   * the cluster's proxies. Default: every name is `own`.
   */
  readonly clusters?: ((name: string) => ClusterCredentials | "own" | "unknown") | undefined;
  /** Decides which proxies may read Secrets that Gateways name. Default: Gateways give no right. */
  readonly gatewaySecrets?: Pick<GatewaySecrets, "permits"> | undefined;
  /** Whether the object of a key is refused without an earlier version in force. Default: no object is refused. */
  readonly isRefused?: ((key: string) => boolean) | undefined;
  /**
   * Called once per stream and reason for each credential that a proxy asked for and does not get.
   *
   * @param count number of refusals of the stream so far
   */
  readonly refused: (reader: CredentialReader, resource: string, why: string, count: number) => void;
}

/** By name. */
type MadeCredentials = Map<string, MadeCredential>;

/** A credential, with the objects that it was made from. */
interface MadeCredential {
  readonly facts: readonly AnyFact[];
  readonly made: EncodedResource | { readonly why: string };
}

/** An object that a stream may use for a reference, or the reason why not. */
type UsableFact =
  | { readonly fact: AnyFact; readonly reference: CredentialReference }
  | { readonly fact?: undefined; readonly why: string | undefined };

export class Credentials {
  readonly #options: CredentialsOptions;
  /** By key of the object that is looked for, whether the object exists or not. */
  readonly #readers = new SmallMultimap<string, ProxyCredentials>();
  readonly #made = new Map([CERTIFICATES, REGISTRIES].map((use) => [use, new WeakMap<AnyFact, MadeCredentials>()]));
  readonly #stop: () => void;

  constructor(options: CredentialsOptions) {
    this.#options = options;
    this.#stop = options.facts.subscribe((changes) => this.changed(changes));
  }

  /** Objects of a cluster have changed. */
  changed(changes: Pick<ChangeSet<Fact>, "added" | "updated" | "removed">): void {
    this.lookAgain(changedObjects(changes).map(({ key }) => key));
  }

  /** The objects of some keys, or the rights to read them, have changed. */
  lookAgain(keys: Iterable<string>): void {
    for (const key of keys) for (const reader of this.#readers.get(key)) reader.lookAgain(key);
  }

  /** A cluster came or went. */
  lookAgainAtAll(): void {
    const readers = new Set<ProxyCredentials>();
    for (const [, some] of this.#readers.entries()) for (const reader of some) readers.add(reader);
    for (const reader of readers) reader.lookAgainAtAll();
  }

  /** The credentials of one stream. @param changed Called when the credentials of the stream have changed. */
  open(reader: CredentialReader, changed: () => void): ProxyCredentials {
    return this.#open(reader, changed, CERTIFICATES);
  }

  /**
   * The credentials for image registries of one stream. The credentials are generic secrets, and the stream does not
   * get them as resources of their own.
   */
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

  /** Ends the subscriptions. */
  stop(): void {
    this.#stop();
  }

  /** The cluster of a reader; undefined: the cluster is not known. */
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
    const { namespace } = reader;
    if (namespace === undefined) {
      return { why: "the proxy has not proven an identity (plain connection, or no client certificate)" };
    }
    const references = use.references(resource, namespace);
    if (references === undefined) return { why: "the name is not the name of a credential" };
    const found = references.map((reference) => this.#usable({ ...reader, namespace }, reference, watch, use, rightOf));
    // As long as a right is being asked about, nobody knows whether the authority of the object counts.
    const refused = found.flatMap((one) => one.fact === undefined ? [one] : []);
    const undecided = refused.find(({ why }) => why === undefined);
    if (undecided !== undefined) return undecided;
    const usable = found.flatMap((one) => one.fact === undefined ? [] : [one]);
    const [first] = refused;
    return usable.length === 0 && first !== undefined ? first : this.#resource(resource, usable, use);
  }

  /** The object of a reference, if the stream may have it. */
  #usable(
    reader: CredentialReader & { readonly namespace: string },
    reference: CredentialReference,
    watch: (key: string) => void,
    use: CredentialUse,
    rightOf: RightOf,
  ): UsableFact {
    const { namespace, account = "" } = reader;
    const watchAll = () => {
      for (const name of reference.names) watch(`${reference.kind}/${reference.namespace}/${name}`);
    };
    const home = this.#homeOf(reader);
    if (reference.byGateway) {
      watchAll();
      const permitted = this.#permitted(reader, namespace, reference);
      const fact = permitted &&
        (home?.facts && factOf(home.facts, permitted) || factOf(this.#options.facts, permitted));
      if (fact) return { fact, reference };
    }
    const elsewhere = reference.kind === "Secret" && reference.namespace !== namespace;
    const whyElsewhere = `the Secret is of namespace ${reference.namespace}, the proxy's identity of ${namespace}`;
    if (elsewhere && !use.eachAlone) return { why: whyElsewhere };
    watchAll();
    const fact = home?.facts && factOf(home.facts, reference) || factOf(this.#options.facts, reference);
    if (fact === undefined) return { why: absence(reference, this.#options.isRefused) };
    const fromApi = reference.kind === "Secret" && fact.origin.from === "api";
    if (fromApi && home === undefined) {
      return {
        why: `the proxy's cluster ${reader.cluster}, whose API decides who may read secrets, is not known here`,
      };
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
    return { fact, reference };
  }

  /** The names of a reference that a Gateway of the reader gives a right to; undefined: none. */
  #permitted(
    { account = "", labels = {} }: CredentialReader,
    namespace: string,
    reference: CredentialReference,
  ): CredentialReference | undefined {
    const names = reference.names.filter((name) =>
      this.#options.gatewaySecrets?.permits(`${reference.namespace}/${name}`, { namespace, account, labels })
    );
    return names.length === 0 ? undefined : { ...reference, names };
  }

  /** Made once for each version of the objects and each name. @param usable Never empty. */
  #resource(
    name: string,
    usable: readonly { readonly fact: AnyFact; readonly reference: CredentialReference }[],
    use: CredentialUse,
  ): EncodedResource | { readonly why: string } {
    const facts = usable.map(({ fact }) => fact);
    const made = this.#made.get(use)!;
    const [first] = facts as [AnyFact, ...AnyFact[]];
    let byName = made.get(first);
    if (!byName) made.set(first, byName = new Map());
    const known = byName.get(name);
    if (known && sameItems(known.facts, facts)) return known.made;
    const messages = usable.map(({ fact, reference }) => use.message(name, fact, reference));
    const message = messages.length === 1 ? messages[0]! : togetherMessage(name, messages);
    const found = "why" in message
      ? { why: `${first.key} ${message.why}` }
      : encodeResource(TYPE.secret, name, encode(SECRET_MESSAGE, message.secret), {
        causes: facts.map(({ key }) => key),
      });
    byName.set(name, { facts, made: found });
    return found;
  }
}

/** The object of a reference. */
export function factOf(
  facts: Pick<FactStore, "get">,
  { kind, namespace, names }: CredentialReference,
): AnyFact | undefined {
  for (const name of names) {
    const fact = facts.get<FactKind>(kind, namespace, name);
    if (fact) return fact as AnyFact;
  }
}

/** Why no object of a reference is in force: the object does not exist, or its text is refused. */
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
