/**
 * Compares the configuration of a server with files that would take the place of its folder.
 *
 * @module
 */
import { HashedObject } from "../../config/hashed_object.ts";
import { KINDS } from "../../config/kinds/kinds.ts";
import type { AnyConfigObject, ConfigObject } from "../../config/types.ts";
import { objectKey } from "../../config/types.ts";
import { OfflineMesh } from "../../discovery/offline_mesh.ts";
import type { FolderChanges } from "../../folder/index.ts";
import { NodeRefused } from "../../translate/proxy/identity.ts";
import { meshFindings } from "../check/check.ts";
import { baselineOf, splitBy } from "../check/known.ts";
import { type BlastRadius, changedProxies, type ComparedProxy } from "../diff/diff.ts";
import type { ConnectedNode, PreviewInput, SentObject } from "./messages.ts";
import { type PreviewQuestion, UnreadableQuestion } from "./question.ts";

type World = Extract<PreviewInput, { say: "world" }>;

/** A server's configuration and its connected proxies. */
export class ServerWorld {
  readonly #mesh: OfflineMesh;
  readonly #nodes: readonly ConnectedNode[];
  readonly #others: ConfigObject[] = [];
  readonly #ofFolder: ConfigObject[] = [];

  constructor({ settings, domain, mesh, nodes }: World) {
    this.#mesh = new OfflineMesh({ settings, domain, meshConfig: "", mesh, vhds: settings.PILOT_ENABLE_VHDS });
    this.#nodes = nodes;
  }

  /** Takes objects that are in force. */
  add(objects: readonly SentObject[], ofFolder: boolean): void {
    const list = ofFolder ? this.#ofFolder : this.#others;
    for (const { kind, meta, spec, origin } of objects) list.push(new HashedObject(kind, meta, spec, origin));
  }

  /** Makes the change, once. */
  *compare({ files, reversed, nodes }: PreviewQuestion): Generator<void, BlastRadius> {
    const mesh = this.#mesh;
    const encoder = new TextEncoder();
    const reads = Object.entries(files).map(([path, text]) => ({ path, bytes: encoder.encode(text) }));
    const written = yield* mesh.index.applySteps(reads);
    const refused = refusedKeys(mesh);
    const mine = new Set(written.upserted.map(({ key }) => key));
    // What a server refuses stays in force in its last good version.
    const kept = this.#ofFolder.filter(({ key }) => refused.has(key) && !mine.has(key));
    const [old, now] = reversed ? [written.upserted, this.#ofFolder] : [this.#ofFolder, [...written.upserted, ...kept]];
    mesh.takeChanges({ ...NOTHING, facts: written.facts, upserted: [...this.#others, ...old] });
    const joined = this.#join(nodes);
    const textOf = (file: string) => files[file];
    const readFindings = mesh.index.findings();
    const before = yield* meshFindings(mesh, { assumeServices: false, textOf });
    const { changes, objects } = between(old, now);
    const groups = yield* changedProxies(mesh, joined, function* () {
      yield;
      mesh.takeChanges(changes);
      return [...objects.written, ...objects.removed];
    });
    const after = yield* meshFindings(mesh, { assumeServices: false, textOf });
    // The index reads the files whichever way is asked for, so what it finds is new alone on the way to them.
    const read = baselineOf(readFindings);
    const [ofOld, ofNew] = [splitBy(read, before).fresh, splitBy(read, after).fresh];
    const [appeared, resolved] = [splitBy(baselineOf(ofOld), ofNew).fresh, splitBy(baselineOf(ofNew), ofOld).fresh];
    return {
      proxies: {
        compared: joined.length,
        changed: groups.reduce((sum, { proxies }) => sum + proxies.length, 0),
        added: [],
        gone: [],
      },
      groups,
      objects,
      findings: reversed
        ? { appeared, resolved: [...readFindings, ...resolved] }
        : { appeared: [...readFindings, ...appeared], resolved },
    };
  }

  #join(wanted: readonly string[]): ComparedProxy[] {
    const unknown = wanted.filter((one) => !this.#nodes.some(({ id, name }) => one === id || one === name));
    if (unknown.length > 0) throw new UnreadableQuestion(`nodes: ${unknown.join(", ")}, expected connected proxies`);
    const nodes = wanted.length === 0
      ? this.#nodes
      : this.#nodes.filter(({ id, name }) => wanted.includes(id) || wanted.includes(name));
    return nodes.flatMap(({ name, ...node }) => {
      try {
        return [{ name, state: this.#mesh.join(node) }];
      } catch (error) {
        if (error instanceof NodeRefused) return []; // It is connected all the same: its stream ends by itself.
        throw error;
      }
    });
  }
}

const NOTHING: FolderChanges = {
  upserted: [],
  removed: [],
  appeared: [],
  resolved: [],
  facts: { upserted: [], removed: [] },
};

function between(old: readonly ConfigObject[], now: readonly ConfigObject[]) {
  const before = new Map(old.map((object) => [object.key, object]));
  const after = new Set(now.map(({ key }) => key));
  const upserted = now.filter(({ key, hash }) => before.get(key)?.hash !== hash) as AnyConfigObject[];
  const removed = old.filter(({ key }) => !after.has(key)).map(({ key }) => key);
  const changes: FolderChanges = { ...NOTHING, upserted, removed };
  return { changes, objects: { written: upserted.map(({ key }) => key), removed } };
}

/** Keys of objects that the files hold and that are refused. */
function refusedKeys({ index }: OfflineMesh): Set<string> {
  const keys = new Set<string>();
  for (const path of index.paths) {
    for (const { content } of index.file(path)?.documents ?? []) {
      for (const { kind, namespace, name } of content.refused) {
        const known = KINDS.find((one) => one === kind);
        if (known !== undefined && name !== "") keys.add(objectKey(known, namespace, name));
      }
    }
  }
  return keys;
}
