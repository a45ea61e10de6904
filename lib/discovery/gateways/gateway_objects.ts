/**
 * The objects of a Gateway's deployment at the API: applied where they differ from the rendering, and removed when the
 * rendering has them no more. An object that was not made for the Gateway is left alone.
 *
 * Permissions: the permissions of the client. Rights at the API: `get`, `create` and `patch` of the deployed kinds,
 * `delete` of autoscalers and budgets.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import { namesAccount } from "../../gateway_api/deploy/names.ts";
import { isSettled } from "../../gateway_api/deploy/settled.ts";
import type { DeployedObject } from "../../gateway_api/deploy/types.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { ApiJson } from "../../orch/client/answer.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { applyObject, deleteObject, isNamespaceGone } from "../../orch/resources/objects.ts";
import type { LiveObjects } from "./live_objects.ts";
import { DEPLOYED_RESOURCES, gatewayOf, metadataOf, OPTIONAL_KINDS, whyForeign } from "./resources.ts";
import { isAvailable, isSharedRoll, type Rolls } from "./rolls.ts";

/** The work of one Gateway. */
export interface GatewayWork {
  readonly gateway: ConfigObject<"ApiGateway">;
  /** `namespace/name`. */
  readonly key: string;
  /** The owner of the applied fields. */
  readonly manager: string;
  /** Name of the Deployment. */
  readonly deployment: string;
  readonly signal: AbortSignal;
}

/** The results for the objects of a Gateway. */
export interface GatewayObjectsReport {
  /** Objects that are somebody else's, with the reason: sentences for people. */
  readonly foreign: readonly string[];
  /** Errors of objects that could not be applied. */
  readonly errors: readonly unknown[];
  /** An object waits for the Gateway's turn to get new pods. */
  readonly isWaiting: boolean;
}

/** The result for one object: it has the desired fields, it waits for the Gateway's turn, or it is somebody else's. */
type ObjectOutcome = "kept" | "waiting" | { readonly foreign: string };

export interface GatewayObjectsParts {
  readonly client: ApiClient;
  readonly log: Logger;
  readonly live: LiveObjects;
  readonly rolls: Rolls;
}

export class GatewayObjects {
  readonly #parts: GatewayObjectsParts;

  constructor(parts: GatewayObjectsParts) {
    this.#parts = parts;
  }

  /**
   * Applies the objects that differ. One object that cannot be applied does not keep the others back.
   *
   * @returns Undefined: the namespace is being removed, and nothing can be made there.
   * @throws The signal's reason, if the term is over.
   */
  async keep(work: GatewayWork, objects: readonly DeployedObject[]): Promise<GatewayObjectsReport | undefined> {
    const foreign: string[] = [];
    const errors: unknown[] = [];
    let isWaiting = false;
    for (const object of objects) {
      try {
        const kept = await this.#keepObject(work, object);
        if (typeof kept === "object") foreign.push(`${object.kind} ${object.metadata.name}: ${kept.foreign}`);
        isWaiting ||= kept === "waiting";
      } catch (error) {
        if (isNamespaceGone(error)) return undefined;
        work.signal.throwIfAborted();
        errors.push(error);
      }
    }
    return { foreign, errors, isWaiting };
  }

  async #keepObject(work: GatewayWork, object: DeployedObject): Promise<ObjectOutcome> {
    const { log, live: objects, rolls } = this.#parts;
    const { key, manager, signal } = work;
    const { kind, metadata: { name, namespace } } = object;
    const live = await objects.find(kind, namespace, name, signal);
    const why = live && whyForeign(live, work.gateway.meta.name);
    const isOurs = live !== undefined && why === undefined;
    const isRoll = isOurs && isSharedRoll(object, live, manager);
    if (kind === "Deployment" && !isRoll) rolls.leave(key);
    if (why !== undefined) {
      return kind === "ServiceAccount" && namesAccount(work.gateway) ? "kept" : { foreign: why };
    }
    // The end of the object queues the Gateway.
    if (isOurs && (metadataOf(live).deleting || isSettled(object, live, manager))) return "kept";
    if (isRoll && !rolls.mayRoll(key)) return "waiting";
    const written = await this.#apply(work, object, live).catch((error) => {
      // One Gateway that the API refuses does not keep the others from their turn.
      if (isRoll) rolls.leave(key);
      throw error;
    });
    objects.wrote(kind, namespace, name, written);
    if (isRoll) rolls.began(key, isAvailable(live));
    log.info("an object of a Gateway's deployment is applied", { gateway: key, object: `${kind} ${name}` });
    return "kept";
  }

  async #apply({ manager, signal }: GatewayWork, object: DeployedObject, live: ApiJson | undefined): Promise<ApiJson> {
    const { kind, metadata: { name, namespace } } = object;
    const place = { resource: DEPLOYED_RESOURCES[kind], namespace, name };
    // An object that somebody else makes at this moment is a conflict.
    const how = { manager, force: live !== undefined, signal };
    return await applyObject(this.#parts.client, place, bodyOf(object, live), how);
  }

  /** Removes the autoscaler and the budget of a Gateway when no overlay asks for them any more. */
  async removeUnwanted({ gateway, key, signal }: GatewayWork, objects: readonly DeployedObject[]): Promise<void> {
    const { client, log, live: known } = this.#parts;
    const { namespace, name: own } = gateway.meta;
    for (const kind of OPTIONAL_KINDS) {
      for (const live of [...known.all(kind)]) {
        const { uid, deleting } = metadataOf(live);
        const isTheirs = live.namespace !== namespace || gatewayOf(live) !== own || deleting ||
          whyForeign(live, own) !== undefined || !isOwnedBy(live, gateway);
        const isWanted = objects.some((one) => one.kind === kind && one.metadata.name === live.name);
        if (isTheirs || isWanted) continue;
        const place = { resource: DEPLOYED_RESOURCES[kind], namespace, name: live.name };
        await deleteObject(client, place, { uid }, { signal });
        log.info("an object of a Gateway's deployment is removed", { gateway: key, object: `${kind} ${live.name}` });
      }
    }
  }
}

/** The body of an apply. With a uid, another object of the same name is a conflict. */
function bodyOf({ apiVersion: _, kind: __, metadata, ...rest }: DeployedObject, live: ApiJson | undefined) {
  const { name: ___, namespace: ____, ...others } = metadata;
  return { ...rest, metadata: { ...others, ...(live === undefined ? {} : { uid: metadataOf(live).uid }) } };
}

/** Whether an owner reference names the Gateway. */
function isOwnedBy({ metadata }: ApiJson, { origin }: ConfigObject): boolean {
  const owners = (metadata as { readonly ownerReferences?: unknown } | undefined)?.ownerReferences;
  const uid = origin.from === "api" ? origin.uid : undefined;
  return Array.isArray(owners) && owners.some((one) => one?.uid === uid);
}
