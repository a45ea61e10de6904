/**
 * Compares two versions of configuration by the resources that proxies get when the second version follows the first.
 *
 * @module
 */
import type { Finding } from "../../finding/finding.ts";
import type { OfflineMesh } from "../offline_mesh.ts";
import type { FolderChanges } from "../../folder/index.ts";
import { NodeRefused } from "../../translate/proxy/identity.ts";
import { meshFindings } from "../check/check.ts";
import { baselineOf, splitBy } from "../check/known.ts";
import { findProxy } from "../find_proxy.ts";
import { type ImpliedProxy, proxiesOf } from "../workloads.ts";
import { type BlastRadius, changedProxies, type ComparedProxy } from "./diff.ts";

/** How versions are compared. */
export interface CompareOptions {
  /** Names of proxies; empty: all proxies implied by the old version. */
  readonly nodes: readonly string[];
  /** Texts of the files of both versions. */
  readonly textOf: {
    readonly old: (file: string) => string | undefined;
    readonly now: (file: string) => string | undefined;
  };
  /** Gives the mesh the mesh configuration of the new version. Default: the old mesh configuration stays. */
  readonly meshConfig?: () => void;
  readonly progress?: (text: string) => void;
}

/**
 * Compares.
 *
 * @param mesh Holds the old version; afterwards the new version.
 * @param read Reads the new version into the mesh's index.
 * @throws {NoSuchProxy} for a name that fits no proxy
 */
export function* compareVersions(
  mesh: OfflineMesh,
  read: () => Generator<void, FolderChanges>,
  options: CompareOptions,
): Generator<void, BlastRadius> {
  const { progress = () => {}, textOf } = options;
  const { proxies: implied, options: impliedBy } = proxiesOf(mesh);
  const wanted = options.nodes.length === 0
    ? implied
    : options.nodes.map((name) => findProxy(name, implied, impliedBy).proxy);
  const joined = yield* join(mesh, wanted, progress);
  const before = yield* findingsOf(mesh, textOf.old, progress);
  let objects: BlastRadius["objects"] = { written: [], removed: [] };
  const groups = yield* changedProxies(mesh, joined, function* () {
    progress("reading the new version");
    const changes = yield* read();
    // A move to another place does not count as a change of an object.
    const written = changes.upserted.filter(({ key, hash }) => mesh.objects.get(key)?.hash !== hash);
    objects = { written: written.map(({ key }) => key), removed: changes.removed };
    options.meshConfig?.();
    mesh.takeChanges(changes);
    return [...objects.written, ...objects.removed];
  });
  const after = yield* findingsOf(mesh, textOf.now, progress);
  const names = { old: namesOf(implied), now: namesOf(proxiesOf(mesh).proxies) };
  const gone = options.nodes.length > 0 ? [] : [...names.old].filter((name) => !names.now.has(name));
  const added = options.nodes.length > 0 ? [] : [...names.now].filter((name) => !names.old.has(name));
  const left = new Set(gone);
  const staying = groups.map((group) => ({ ...group, proxies: group.proxies.filter((name) => !left.has(name)) }))
    .filter(({ proxies }) => proxies.length > 0);
  return {
    proxies: {
      compared: joined.filter(({ name }) => !left.has(name)).length,
      changed: staying.reduce((sum, { proxies }) => sum + proxies.length, 0),
      added,
      gone,
    },
    groups: staying,
    objects,
    // A finding about an object stays the same when the object moves to another file.
    findings: {
      appeared: splitBy(baselineOf(before), after).fresh,
      resolved: splitBy(baselineOf(after), before).fresh,
    },
  };
}

function* findingsOf(
  mesh: OfflineMesh,
  textOf: (file: string) => string | undefined,
  progress: (text: string) => void,
): Generator<void, readonly Finding[]> {
  return yield* meshFindings(mesh, { assumeServices: false, textOf, progress });
}

function* join(
  mesh: OfflineMesh,
  proxies: readonly ImpliedProxy[],
  progress: (text: string) => void,
): Generator<void, ComparedProxy[]> {
  const joined: ComparedProxy[] = [];
  for (const [at, { namespace, name, node }] of proxies.entries()) {
    progress(`translated for ${at} of ${proxies.length} proxies`);
    try {
      joined.push({ name: `${namespace}/${name}`, state: mesh.join(node) });
    } catch (error) {
      if (!(error instanceof NodeRefused)) throw error; // Labels that a proxy could not send in its first request.
    }
    yield;
  }
  return joined;
}

/** Names of workloads. Stand-ins for a namespace are left out: they come and go with the named workloads. */
function namesOf(proxies: readonly ImpliedProxy[]): Set<string> {
  return new Set(proxies.filter(({ standsIn }) => !standsIn).map(({ namespace, name }) => `${namespace}/${name}`));
}
