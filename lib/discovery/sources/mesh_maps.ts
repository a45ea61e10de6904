/**
 * Mesh configuration and mesh networks in config maps of the control plane's namespace: the standard config map
 * (`mesh`; for a revision `mesh-REVISION`), and the shared config map beneath it (`SHARED_MESH_CONFIG`).
 *
 * Permissions: the permissions of the client.
 *
 * @module
 */
import type { Kernel } from "../../kernel/kernel.ts";
import type { ApiJson } from "../../orch/client/answer.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { Informer } from "../../orch/informer/informer.ts";
import type { WatchedMeshTexts, WatchedText } from "./mesh_text.ts";
import { configMapEntry, watchConfigMap } from "./config_map.ts";

/** Where the config maps are. */
export interface MeshMapsOptions {
  readonly namespace: string;
  /** `REVISION`; `default` and empty: no revision. */
  readonly revision: string;
  /** `SHARED_MESH_CONFIG`: name of a config map; empty: there is no shared config map. */
  readonly shared: string;
}

/** The texts of the config maps. */
export function meshMaps(
  client: ApiClient,
  { namespace, revision, shared }: MeshMapsOptions,
  kernel: Pick<Kernel, "log" | "stopper">,
): WatchedMeshTexts {
  const name = ["", "default"].includes(revision) ? "mesh" : `mesh-${revision}`;
  const informers = new Map<string, Informer<MeshMapEntries>>();
  const text = (map: string, key: keyof MeshMapEntries): WatchedText => ({
    name: `config map ${namespace}/${map}, key ${key}`,
    watch: async (onText) => {
      let informer = informers.get(map);
      if (informer === undefined) {
        informer = watchConfigMap(client, { namespace, name: map }, meshMapEntries, kernel);
        informers.set(map, informer);
      }
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

/** The entries of a config map that the server reads. */
interface MeshMapEntries {
  readonly mesh: string | undefined;
  readonly meshNetworks: string | undefined;
}

function meshMapEntries(object: ApiJson): MeshMapEntries {
  return { mesh: configMapEntry(object, "mesh"), meshNetworks: configMapEntry(object, "meshNetworks") };
}
