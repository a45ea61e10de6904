/**
 * A feed of a resource that the orchestrator may or may not have. The resource is followed while its definition exists
 * and serves the wanted version.
 *
 *     definitions ──the first that serves the version──> feed ──> store
 *
 * Nothing waits for a definition that is absent, forbidden, or of other versions.
 *
 * Permissions: the permissions of the client. Rights at the API: `list` and `watch` of definitions and of the resource.
 *
 * @module
 */
import type { StoredObject } from "../../config/store.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { ApiError } from "../../orch/client/api_error.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { BackOff } from "../../orch/informer/back_off.ts";
import { Informer } from "../../orch/informer/informer.ts";
import { type ApiResource, apiVersionOf } from "../../orch/informer/resource.ts";
import { definitionName, DEFINITIONS } from "../../orch/resources/definitions.ts";
import { servedVersions } from "../../orch/resources/served.ts";
import type { ApiFeed } from "./feed.ts";

export interface DefinedFeedParts<O extends StoredObject> {
  readonly client: ApiClient;
  readonly feed: ApiFeed<O>;
  /** Candidate places of the resource, the preferred place first. All places have the same plural. */
  readonly places: readonly ApiResource[];
  readonly log: Logger;
}

/** The state of the definition. */
type DefinitionState =
  | { readonly kind: "followed"; readonly place: ApiResource }
  | { readonly kind: "absent" }
  /** The definition exists, but the API does not serve the resource yet. */
  | { readonly kind: "unserved" }
  | { readonly kind: "otherVersion"; readonly place: ApiResource; readonly served: readonly string[] };

/** Longest wait at the start for a defined resource that is not served yet, milliseconds. */
const SERVED_MS = 30_000;

/** The feed of a resource, followed while the resource's definition serves the wanted version. */
export class DefinedFeed<O extends StoredObject> {
  readonly feed: ApiFeed<O>;
  readonly #parts: DefinedFeedParts<O>;
  readonly #definitions: readonly { readonly place: ApiResource; readonly informer: Informer<true> }[];
  readonly #known = Promise.withResolvers<void>();
  readonly #forbidden = Promise.withResolvers<void>();
  readonly #stop = new AbortController();
  readonly #backOff = new BackOff();
  #looking: Promise<void> | undefined;
  #again = false;
  #said = "";

  constructor(parts: DefinedFeedParts<O>) {
    this.#parts = parts;
    this.feed = parts.feed;
    const { client, places, log } = parts;
    this.#definitions = places.map((place) => {
      const fieldSelector = `metadata.name=${definitionName(place)}`;
      const troubled = (error: ApiError) => this.troubled(error);
      const what = { resource: DEFINITIONS, metadataOnly: true, fieldSelector } as const;
      return { place, informer: new Informer<true>(client, { ...what, project: () => true, log, troubled }) };
    });
  }

  /** Also called with failures of the feed: a forbidden resource is not waited for. */
  troubled(error: ApiError): void {
    if (error.forbidden) this.#forbidden.resolve();
  }

  /** Begins; resolves when the objects are in the store, or none are to be expected. */
  async start(): Promise<void> {
    for (const { informer } of this.#definitions) {
      informer.subscribe(() => this.#look());
      informer.start();
      void informer.whenSynced.then(() => this.#look());
    }
    await Promise.race([this.#known.promise, this.#forbidden.promise]);
    if (this.feed.version !== undefined) await Promise.race([this.feed.whenSynced, this.#forbidden.promise]);
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error("stopped"));
    this.#known.resolve();
    await Promise.all([this.feed.stop(), ...this.#definitions.map(({ informer }) => informer.stop())]);
    await this.#looking;
  }

  /** Looks at the definitions now, or once more after the look that is under way. */
  #look(): void {
    this.#again = true;
    this.#looking ??= this.#lookAgain().finally(() => this.#looking = undefined);
  }

  async #lookAgain(): Promise<void> {
    const { signal } = this.#stop;
    const { clock } = this.#parts.client;
    const began = clock.monotonic();
    while (this.#again && !signal.aborted) {
      this.#again = false;
      if (!this.#definitions.every(({ informer }) => informer.synced)) return;
      const found = await this.#find();
      if (found.kind === "followed") this.feed.follow(found.place);
      // A resource that was served before is still followed: a starting API server may not know its own definitions
      // yet.
      else if (found.kind !== "unserved") this.feed.vanish();
      this.#say(found);
      if (found.kind !== "unserved" || clock.monotonic() - began > SERVED_MS) this.#known.resolve();
      if (found.kind !== "unserved") this.#backOff.reset();
      else {
        await clock.sleep(this.#backOff.next(), signal).catch(() => {});
        this.#again = true;
      }
    }
  }

  async #find(): Promise<DefinitionState> {
    let found: DefinitionState = { kind: "absent" };
    for (const { place, informer } of this.#definitions) {
      if (informer.size === 0) continue;
      const versions = await this.#served(place);
      if (versions?.has(place.version)) return { kind: "followed", place };
      if (versions === undefined) found = { kind: "unserved" };
      else if (found.kind === "absent") found = { kind: "otherVersion", place, served: [...versions].sort() };
    }
    return found;
  }

  /** The served versions of a resource; undefined: no version is served, or the API did not answer. */
  async #served({ group, plural }: ApiResource): Promise<ReadonlySet<string> | undefined> {
    try {
      return (await servedVersions(this.#parts.client, group, this.#stop.signal)).get(plural);
    } catch {
      // The client has counted the failure, and the caller asks again.
      return undefined;
    }
  }

  /** Logs one line whenever the state changes. */
  #say(found: DefinitionState): void {
    const text = JSON.stringify(found);
    if (text === this.#said) return;
    this.#said = text;
    const { log, places } = this.#parts;
    const [{ kind, version }] = places as readonly [ApiResource];
    if (found.kind === "followed") log.info(`${kind} is read`, { apiVersion: apiVersionOf(found.place) });
    if (found.kind === "absent") log.info(`${kind} has no definition`, { expected: places.map(definitionName) });
    if (found.kind === "otherVersion") {
      const { place, served } = found;
      log.warn(`${kind} is served in other versions`, { definition: definitionName(place), served, expected: version });
    }
  }
}
