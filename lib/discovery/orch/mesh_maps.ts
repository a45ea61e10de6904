/**
 * Mesh configuration and mesh networks in config maps of the control plane's namespace: the standard one (`mesh`, of a
 * revision `mesh-REVISION`), and one that lies under it (`SHARED_MESH_CONFIG`).
 *
 * Permissions: those of the client.
 *
 * @module
 */
import type { Kernel } from "../../kernel/kernel.ts";
import { type ApiJson, isApiJson } from "../../orch/client/answer.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { Informer } from "../../orch/informer/informer.ts";
import type { ApiResource } from "../../orch/informer/resource.ts";
import type { WatchedMeshTexts, WatchedText } from "../mesh_text.ts";

const CONFIG_MAPS: ApiResource = {
  group: "",
  version: "v1",
  plural: "configmaps",
  kind: "ConfigMap",
  namespaced: true,
};

/** Where the config maps are. */
export interface MeshMapsOptions {
  readonly namespace: string;
  /** `REVISION`; `default` and empty: none. */
  readonly revision: string;
  /** `SHARED_MESH_CONFIG`: name of a config map; empty: none. */
  readonly shared: string;
}

/** The texts of the config maps. */
export function meshMaps(
  client: ApiClient,
  { namespace, revision, shared }: MeshMapsOptions,
  kernel: Kernel,
): WatchedMeshTexts {
  const name = ["", "default"].includes(revision) ? "mesh" : `mesh-${revision}`;
  const informers = new Map<string, Informer<MeshMapEntries>>();
  const text = (map: string, key: keyof MeshMapEntries): WatchedText => ({
    name: `config map ${namespace}/${map}, key ${key}`,
    watch: async (onText) => {
      let informer = informers.get(map);
      if (informer === undefined) informers.set(map, informer = watchMap(client, namespace, map, kernel));
      const report = () => onText(informer.get(namespace, map)?.value[key]);
      await informer.whenSynced;
      report();
      informer.subscribe(report);
      return informer;
    },
  });
  return {
    mesh: text(name, "mesh"),
    networks: text(name, "meshNetworks"),
    ...(shared === "" ? {} : { shared: text(shared, "mesh") }),
  };
}

/** The entries of a config map that are read. */
interface MeshMapEntries {
  readonly mesh: string | undefined;
  readonly meshNetworks: string | undefined;
}

function watchMap(client: ApiClient, namespace: string, map: string, kernel: Kernel): Informer<MeshMapEntries> {
  const informer = new Informer<MeshMapEntries>(client, {
    ...{ resource: CONFIG_MAPS, namespace, fieldSelector: `metadata.name=${map}`, log: kernel.log.scope("orch") },
    project: (object) => ({ mesh: entryOf(object, "mesh"), meshNetworks: entryOf(object, "meshNetworks") }),
  });
  // Before the API is there too, a stop must not wait for it.
  kernel.stopper.add(`config map ${map}`, () => informer.stop());
  informer.start();
  return informer;
}

function entryOf({ data }: ApiJson, key: string): string | undefined {
  const text = isApiJson(data) ? data[key] : undefined;
  return typeof text === "string" ? text : undefined;
}
