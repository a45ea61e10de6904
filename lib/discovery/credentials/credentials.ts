/**
 * Credentials that configuration names, for the proxies that may read them: over the stream, as they ask, and again when
 * the objects change.
 *
 * A proxy may read the Secrets of the namespace of its proven identity, and authorities in ConfigMaps of any; of Secrets that
 * come from an API, those that its account may list there. Without an identity it gets nothing. A proxy of a remote cluster
 * gets the objects of its cluster, and where there are none of a name those of the server's own, as its cluster's API allows.
 * What is refused or cannot be used is counted, and named in the log once for each stream.
 *
 * @module
 */
import type { ChangeSet } from "../../config/store.ts";
import type { FactStore } from "../../config/facts/store.ts";
import type { AnyFact, Fact, FactKind } from "../../config/facts/types.ts";
import { encode } from "../../pb/codec.ts";
import { type EncodedResource, encodeResource } from "../../resource/encoded.ts";
import type { ResourceSet, ResourceTable } from "../../resource/set.ts";
import { TYPE } from "../../translate/encode/encode.ts";
import { authoritiesSecret, certificateSecret } from "./envoy_secret.ts";
import { type CredentialReference, credentialReference } from "./reference.ts";
import type { SecretRights } from "./secret_rights.ts";

/** A credential; or why there is none, `undefined` while that is being found out. */
type FoundCredential = EncodedResource | { readonly why: string | undefined };

const SECRET_MESSAGE = "envoy.extensions.transport_sockets.tls.v3.Secret";

/** Who asks. */
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

/** Objects of one cluster, and who may read them. */
export interface ClusterCredentials {
  /** Undefined: nothing has been read yet. */
  readonly facts: FactStore | undefined;
  /** Who may read Secrets of an API. Default: everybody in their namespace. */
  readonly rights?: Pick<SecretRights, "of" | "leave"> | undefined;
}

/** The server's side of credentials. */
export interface CredentialsOptions extends ClusterCredentials {
  /** Those of the server's own cluster. */
  readonly facts: FactStore;
  readonly table: ResourceTable;
  /** A remote cluster by its name; `own`: it is none, `unknown`: nobody can be asked for the rights of its proxies. Default: all are `own`. */
  readonly clusters?: ((name: string) => ClusterCredentials | "own" | "unknown") | undefined;
  /** Called for each credential that a proxy asked for and does not get, with the reason: each reason once for each stream. */
  readonly refused: (reader: CredentialReader, resource: string, why: string) => void;
}

/** All credentials. */
export class Credentials {
  readonly #options: CredentialsOptions;
  /** By key of the object that is looked for, there or not. */
  readonly #readers = new Map<string, Set<ProxyCredentials>>();
  readonly #made = new WeakMap<AnyFact, Map<string, EncodedResource | { readonly why: string }>>();
  readonly #stop: () => void;

  constructor(options: CredentialsOptions) {
    this.#options = options;
    this.#stop = options.facts.subscribe((changes) => this.changed(changes));
  }

  /** Objects of a cluster are others than before. */
  changed({ added, updated, removed }: Pick<ChangeSet<Fact>, "added" | "updated" | "removed">): void {
    const changed = [...added, ...removed, ...updated.map((one) => one.new)];
    for (const { key } of changed) for (const reader of [...this.#readers.get(key) ?? []]) reader.lookAgain(key);
  }

  /** A cluster came or went. */
  lookAgainAtAll(): void {
    for (const reader of new Set([...this.#readers.values()].flatMap((readers) => [...readers]))) {
      reader.lookAgainAtAll();
    }
  }

  /** The credentials of one stream. @param changed Called when other ones are there for it. */
  open(reader: CredentialReader, changed: () => void): ProxyCredentials {
    const lookAgain = () => own.lookAgainAtAll();
    const own: ProxyCredentials = new ProxyCredentials(this.#options.table.empty, {
      changed,
      find: (resource, watch) => this.#find(reader, resource, watch, lookAgain),
      closed: () => this.#homeOf(reader)?.rights?.leave(reader.namespace ?? "", reader.account ?? "", lookAgain),
      refused: (resource, why) => this.#options.refused(reader, resource, why),
      watch: (key, credentials) => {
        const there = this.#readers.get(key);
        if (there) there.add(credentials);
        else this.#readers.set(key, new Set([credentials]));
      },
      unwatch: (key, credentials) => {
        const there = this.#readers.get(key);
        if (there?.delete(credentials) && there.size === 0) this.#readers.delete(key);
      },
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
    lookAgain: () => void,
  ): FoundCredential {
    const { namespace, account = "" } = reader;
    if (namespace === undefined) {
      return { why: "the proxy has not proven who it is (plain connection, or none of its own)" };
    }
    const reference = credentialReference(resource, namespace);
    if (reference === undefined) return { why: "the name is none of a credential" };
    if (reference.kind === "Secret" && reference.namespace !== namespace) {
      return { why: `the Secret is of namespace ${reference.namespace}, the proxy's identity of ${namespace}` };
    }
    for (const name of reference.names) watch(`${reference.kind}/${reference.namespace}/${name}`);
    const home = this.#homeOf(reader);
    const fact = home?.facts && factOf(home.facts, reference) || factOf(this.#options.facts, reference);
    if (fact === undefined) {
      return { why: `there is no ${reference.kind} ${reference.namespace}/${reference.names[0]}` };
    }
    if (reference.kind === "Secret" && fact.origin.from === "api") {
      if (home === undefined) return { why: `its cluster ${reader.cluster} is not known here, whose API says who may` };
      const right = home.rights === undefined ? "allowed" : home.rights.of(namespace, account, lookAgain);
      if (right === "unknown") return { why: undefined };
      if (right === "denied") {
        return { why: `the API does not allow account ${account} to list secrets of namespace ${namespace}` };
      }
    }
    return this.#resource(resource, fact, reference.authorities);
  }

  /** Made once for each version of the object, for all that ask by that name. */
  #resource(name: string, fact: AnyFact, authorities: boolean): EncodedResource | { readonly why: string } {
    let byName = this.#made.get(fact);
    if (!byName) this.#made.set(fact, byName = new Map());
    const known = byName.get(name);
    if (known) return known;
    const message = authorities ? authoritiesSecret(name, fact) : certificateSecret(name, fact);
    const made = "why" in message
      ? { why: `${fact.key} ${message.why}` }
      : encodeResource(TYPE.secret, name, encode(SECRET_MESSAGE, message.secret), { causes: [fact.key] });
    byName.set(name, made);
    return made;
  }
}

function factOf(facts: FactStore, { kind, namespace, names }: CredentialReference): AnyFact | undefined {
  for (const name of names) {
    const fact = facts.get<FactKind>(kind, namespace, name);
    if (fact) return fact as AnyFact;
  }
}

interface CredentialSource {
  readonly changed: () => void;
  readonly find: (resource: string, watch: (key: string) => void) => FoundCredential;
  readonly refused: (resource: string, why: string) => void;
  readonly watch: (key: string, credentials: ProxyCredentials) => void;
  readonly unwatch: (key: string, credentials: ProxyCredentials) => void;
  readonly closed: () => void;
}

/** The credentials that one stream asks for. Each name costs itself alone, whatever was asked before. */
export class ProxyCredentials {
  readonly #source: CredentialSource;
  /** Names that are asked for, with the keys of the objects that decide about them. */
  readonly #wanted = new Map<string, ReadonlySet<string>>();
  /** The other way round. */
  readonly #waiting = new Map<string, Set<string>>();
  /** What was refused, by name: each reason is reported once. */
  readonly #refused = new Map<string, string>();
  #set: ResourceSet;

  constructor(empty: ResourceSet, source: CredentialSource) {
    this.#set = empty;
    this.#source = source;
  }

  /** Those that are there. */
  get set(): ResourceSet {
    return this.#set;
  }

  /** The proxy asks for more; names that are none of credentials are left to others. */
  want(names: Iterable<string>): void {
    this.#look([...names].filter(isCredential));
  }

  /** It asks for these no longer. */
  unwant(names: Iterable<string>): void {
    const gone = [...names].filter((name) => this.#wanted.has(name));
    for (const name of gone) {
      this.#forget(name);
      this.#wanted.delete(name);
      this.#refused.delete(name);
    }
    this.#set = this.#set.with([], gone);
  }

  /** An object changed. */
  lookAgain(key: string): void {
    this.#lookAt([...this.#waiting.get(key) ?? []]);
  }

  /** Other things may be read than before. */
  lookAgainAtAll(): void {
    this.#lookAt([...this.#wanted.keys()]);
  }

  #lookAt(names: readonly string[]): void {
    const before = this.#set;
    this.#look(names);
    if (this.#set !== before) this.#source.changed();
  }

  /** The stream is over. */
  close(): void {
    this.#source.closed();
    for (const key of this.#waiting.keys()) this.#source.unwatch(key, this);
    this.#waiting.clear();
    this.#wanted.clear();
  }

  #look(names: readonly string[]): void {
    const found: EncodedResource[] = [];
    const missing: string[] = [];
    for (const name of names) {
      const keys = new Set<string>();
      const answer = this.#source.find(name, (key) => keys.add(key));
      this.#forget(name);
      this.#remember(name, keys);
      if ("why" in answer) {
        const { why } = answer;
        missing.push(name);
        if (why === undefined) continue;
        if (this.#refused.get(name) !== why) this.#source.refused(name, why);
        this.#refused.set(name, why);
      } else {
        found.push(answer);
        this.#refused.delete(name);
      }
    }
    this.#set = this.#set.with(found, missing);
  }

  #remember(name: string, keys: ReadonlySet<string>): void {
    this.#wanted.set(name, keys);
    for (const key of keys) {
      const names = this.#waiting.get(key);
      if (names) names.add(name);
      else {
        this.#waiting.set(key, new Set([name]));
        this.#source.watch(key, this);
      }
    }
  }

  #forget(name: string): void {
    for (const key of this.#wanted.get(name) ?? []) {
      const names = this.#waiting.get(key);
      if (!names?.delete(name) || names.size > 0) continue;
      this.#waiting.delete(key);
      this.#source.unwatch(key, this);
    }
  }
}

function isCredential(name: string): boolean {
  return /^(?:kubernetes|kubernetes-gateway|configmap|invalid):\/\//.test(name);
}
