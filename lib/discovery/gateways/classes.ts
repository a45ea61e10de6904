/**
 * The built-in GatewayClasses in the orchestrator. The server makes a missing class, also after somebody has removed the
 * class. The server never changes a class that exists, so users may edit the classes.
 *
 * Every server makes classes, without a lock: if two servers make the same class, one of them gets a conflict.
 *
 * Permissions: the permissions of the client. Rights at the API: `create` of gatewayclasses, `list` and `watch` of
 * definitions.
 *
 * @module
 */
import type { ConfigStore } from "../../config/store.ts";
import { builtInClasses, type ClassNames } from "../../gateway_api/built_in_classes.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { Logger } from "../../kernel/log/log.ts";
import { ApiError } from "../../orch/client/api_error.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { Informer } from "../../orch/informer/informer.ts";
import { KeyedQueue } from "../../orch/queue/keyed_queue.ts";
import {
  definitionName,
  DEFINITIONS,
  GATEWAY_API_DEFINITIONS,
  kindResource,
  watchedVersion,
} from "../../orch/resources/definitions.ts";
import { createObject } from "../../orch/resources/objects.ts";
import { servedVersions } from "../../orch/resources/served.ts";

/** The definition of classes. */
const DEFINITION = GATEWAY_API_DEFINITIONS.find(({ kind }) => kind === "GatewayClass")!;

export interface GatewayClassesParts {
  readonly client: ApiClient;
  readonly store: Pick<ConfigStore, "get" | "subscribe">;
  readonly classes: ClassNames;
  readonly log: Logger;
}

/** Keeps the built-in classes until the kernel stops. */
export function keepGatewayClasses(parts: GatewayClassesParts, { stopper }: Pick<Kernel, "stopper">): void {
  const { client, store, classes, log } = parts;
  const wanted = new Map(builtInClasses(classes).map((one) => [one.name, one]));
  const definition = new Informer<true>(client, {
    ...{ resource: DEFINITIONS, fieldSelector: `metadata.name=${definitionName(DEFINITION)}` },
    ...{ metadataOnly: true, project: () => true, log },
  });
  const isDefined = () => definition.size > 0;
  const queue = new KeyedQueue({
    ...{ id: "gateway classes", clock: client.clock, outage: { client, log } },
    work: async (name, signal) => {
      const wantedClass = wanted.get(name);
      // A definition that appears queues all classes.
      if (wantedClass === undefined || !isDefined() || store.get("GatewayClass", "", name) !== undefined) return;
      const served = (await servedVersions(client, DEFINITION.group, signal)).get(DEFINITION.plural);
      const version = watchedVersion(DEFINITION.kind, served ?? new Set(), false);
      // The API serves a definition some moments after it reports the definition.
      if (version === undefined) throw new Error(`${definitionName(DEFINITION)}: expected v1 or v1beta1 to be served`);
      const { controller: controllerName, description } = wantedClass;
      const place = { resource: kindResource(DEFINITION, version), namespace: "", name };
      try {
        await createObject(client, place, { spec: { controllerName, description } }, { signal });
        log.info("a GatewayClass is made", { class: name, controllerName });
      } catch (error) {
        if (!(error instanceof ApiError) || !error.conflict) throw error;
      }
    },
    failed: (name, error, said) =>
      said || log.warn("a GatewayClass cannot be made; the server tries again", { class: name, error }),
  });
  const all = () => {
    for (const name of wanted.keys()) queue.add(name);
  };
  const ends = [
    definition.subscribe(({ upserted }) => upserted.length > 0 && all()),
    store.subscribe(({ removed }) => {
      for (const { kind, meta: { name } } of removed) if (kind === "GatewayClass" && wanted.has(name)) queue.add(name);
    }),
  ];
  definition.start();
  stopper.add("classes of Gateways", async () => {
    for (const end of ends) end();
    await Promise.all([queue.stop(), definition.stop()]);
  });
}
