/**
 * The texts of the configuration of injection: in files, or in a config map of the server's namespace.
 *
 * The first place with a text counts: files before config maps, this project's places before Istio's. A place whose
 * texts appear later is taken at that time.
 *
 * Permissions: read of the files and their folders; the permissions of the client.
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import { watchFiles } from "../../kernel/files/watch_files.ts";
import type { FileText, WatchedFile } from "../../kernel/files/watch_file.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { ApiJson } from "../../orch/client/answer.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import { configMapEntry, watchConfigMap } from "../sources/config_map.ts";

/** The two texts of a place. */
export interface InjectionTexts {
  /** The place in words, such as `./var/lib/mesh/inject` or `config map mesh-system/mesh-sidecar-injector`. */
  readonly place: string;
  /** Policy, templates, selectors; undefined: the place has no such text. */
  readonly config: FileText;
  /** The values for templates; undefined: the place has no such text. */
  readonly values: FileText;
}

/** Where texts may be. */
export interface InjectionPlaces {
  /** Folders with files `config` and `values`. Default: `./var/lib/mesh/inject`, `./var/lib/istio/inject`. */
  readonly folders?: readonly string[];
  /** Undefined: there is no orchestrator, and no config map. */
  readonly client: ApiClient | undefined;
  /** Namespace of the config maps: the server's namespace. */
  readonly namespace: string;
  /** `REVISION`; empty and `default`: no revision. */
  readonly revision: string;
}

const FOLDERS = ["./var/lib/mesh/inject", "./var/lib/istio/inject"];
const MAPS = ["mesh-sidecar-injector", "istio-sidecar-injector"];

/**
 * Reads the texts, and goes on watching all places until the kernel stops.
 *
 * @param onTexts Called once the files and the API have been asked, and after each change; undefined: no place has
 * texts. Must not throw.
 */
export function watchInjectionTexts(
  { folders = FOLDERS, client, namespace, revision }: InjectionPlaces,
  onTexts: (texts: InjectionTexts | undefined) => void,
  kernel: Pick<Kernel, "log" | "clock" | "stopper">,
): void {
  const suffix = ["", "default"].includes(revision) ? "" : `-${revision}`;
  let inFolders: readonly InjectionTexts[] | undefined;
  const maps = client === undefined ? [] : MAPS.map((map) => {
    const name = `${map}${suffix}`;
    return { name, informer: watchConfigMap(client, { namespace, name }, textsOfMap, kernel) };
  });
  const report = () => {
    if (inFolders === undefined || maps.some(({ informer }) => !informer.synced)) return;
    const inMaps = maps.map(({ name, informer }): InjectionTexts => ({
      place: `config map ${namespace}/${name}`,
      ...(informer.get(namespace, name)?.value ?? { config: undefined, values: undefined }),
    }));
    onTexts([...inFolders, ...inMaps].find(hasText));
  };
  for (const { informer } of maps) {
    informer.subscribe(report);
    void informer.whenSynced.then(report);
  }
  const watched = watchFolders(folders, kernel, (texts) => {
    inFolders = texts;
    report();
  });
  kernel.stopper.add("files of injection", async () => await (await watched)?.stop());
}

/** Watches the files of all folders. If a folder cannot be watched, the first folder is reported with the problem. */
async function watchFolders(
  folders: readonly string[],
  { clock, log }: Pick<Kernel, "log" | "clock">,
  onTexts: (texts: readonly InjectionTexts[]) => void,
): Promise<WatchedFile | undefined> {
  try {
    return await watchFiles({
      paths: folders.flatMap((folder) => [`${folder}/config`, `${folder}/values`]),
      onTexts: (texts) =>
        onTexts(folders.map((place) => ({
          ...{ place, config: texts[`${place}/config`], values: texts[`${place}/values`] },
        }))),
      clock,
    });
  } catch (error) {
    const problem = { unreadable: errorMessage(error) };
    log.scope("default").error("the files of the injection's configuration cannot be watched", { folders, error });
    onTexts(folders.slice(0, 1).map((place) => ({ place, config: problem, values: undefined })));
    return undefined;
  }
}

/** Whether a place counts. A place with an unreadable file counts, and has a problem. */
function hasText({ config, values }: InjectionTexts): boolean {
  return [config, values].some((text) => typeof text === "object" || (text !== undefined && text.trim() !== ""));
}

function textsOfMap(object: ApiJson): Pick<InjectionTexts, "config" | "values"> {
  return { config: configMapEntry(object, "config"), values: configMapEntry(object, "values") };
}
