/**
 * Compares the configuration of a server with other files for its folder.
 *
 * @module
 */
import { ConcealedBytes } from "../../config/facts/concealed.ts";
import { HashedFact } from "../../config/facts/hashed_fact.ts";
import type { AnyFact, Fact } from "../../config/facts/types.ts";
import type { Finding } from "../../finding/finding.ts";
import { HashedObject } from "../../config/hashed_object.ts";
import { KINDS } from "../../config/kinds/kinds.ts";
import type { AnyConfigObject, ConfigObject } from "../../config/types.ts";
import { objectKey } from "../../config/types.ts";
import { OfflineMesh } from "../offline_mesh.ts";
import type { FolderChanges } from "../../folder/index.ts";
import { NodeRefused } from "../../translate/proxy/identity.ts";
import { meshFindings } from "../check/check.ts";
import { baselineOf, splitBy } from "../check/known.ts";
import { type BlastRadius, changedProxies, type ComparedProxy } from "../diff/diff.ts";
import type { ConnectedNode, PreviewInput, SentFact, SentObject, SentSecret } from "./messages.ts";
import { type PreviewQuestion, UnreadableQuestion } from "./question.ts";

type World = Extract<PreviewInput, { say: "world" }>;

/** The server's mesh configuration holds for both versions, whatever objects of the files say. */
const isOfPreview = ({ name }: Finding) => name !== "mesh-configuration-elsewhere";

/** A server's configuration and its connected proxies. */
export class ServerWorld {
  readonly #mesh: OfflineMesh;
  readonly #nodes: readonly ConnectedNode[];
  readonly #others: ConfigObject[] = [];
  readonly #ofFolder: ConfigObject[] = [];
  readonly #otherFacts: AnyFact[] = [];
  readonly #factsOfFolder: AnyFact[] = [];
  /** Findings of reading the folder. */
  readonly #findings: Finding[] = [];

  constructor({ settings, domain, manifestServices, mesh, nodes }: World) {
    const vhds = settings.PILOT_ENABLE_VHDS;
    this.#mesh = new OfflineMesh({
      settings,
      domain,
      manifestServices,
      meshConfig: "",
      mesh,
      hasMeshConfig: true,
      vhds,
    });
    this.#nodes = nodes;
  }

  /** Takes objects in force. */
  add(objects: readonly SentObject[], ofFolder: boolean): void {
    const list = ofFolder ? this.#ofFolder : this.#others;
    for (const { kind, meta, spec, origin, assigned } of objects) {
      list.push(new HashedObject(kind, meta, spec, origin, { assigned }));
    }
  }

  /** Takes facts. */
  addFacts(facts: readonly SentFact[], ofFolder: boolean): void {
    (ofFolder ? this.#factsOfFolder : this.#otherFacts).push(...facts.map(factOf));
  }

  /** Takes findings of reading the folder. */
  addFindings(findings: readonly Finding[]): void {
    this.#findings.push(...findings.filter(isOfPreview));
  }

  /** Makes the change, once. */
  *compare({ files, reversed, nodes }: PreviewQuestion): Generator<void, BlastRadius> {
    const mesh = this.#mesh;
    const encoder = new TextEncoder();
    const reads = Object.entries(files).map(([path, text]) => ({ path, bytes: encoder.encode(text) }));
    const written = yield* mesh.index.applySteps(reads);
    const refused = refusedKeys(mesh);
    const mine = new Set(written.upserted.map(({ key }) => key));
    // If a server refuses an object, the object's last good version stays in force.
    const kept = this.#ofFolder.filter(({ key }) => refused.has(key) && !mine.has(key));
    const read = mesh.index.findings().filter(isOfPreview);
    const ofFolder: FolderVersion = { objects: this.#ofFolder, facts: this.#factsOfFolder, read: this.#findings };
    const ofFiles: FolderVersion = {
      objects: [...written.upserted, ...kept],
      facts: written.facts.upserted,
      read,
    };
    const [old, now] = reversed ? [{ ...ofFiles, objects: written.upserted }, ofFolder] : [ofFolder, ofFiles];
    mesh.takeChanges({
      ...NOTHING,
      facts: { upserted: [...this.#otherFacts, ...old.facts], removed: [] },
      upserted: [...this.#others, ...old.objects],
    });
    const joined = this.#join(nodes);
    const textOf = (file: string) => files[file];
    const before = yield* meshFindings(mesh, { assumeServices: false, textOf });
    const { changes, objects } = between(old, now);
    const groups = yield* changedProxies(mesh, joined, function* () {
      yield;
      mesh.takeChanges(changes);
      return [...objects.written, ...objects.removed];
    });
    const after = yield* meshFindings(mesh, { assumeServices: false, textOf });
    // The index has read the files for both versions, and reports these findings both times.
    const beside = (all: readonly Finding[]) => splitBy(baselineOf(read), all).fresh;
    const [ofOld, ofNow] = [[...old.read, ...beside(before)], [...now.read, ...beside(after)]];
    return {
      proxies: {
        compared: joined.length,
        changed: groups.reduce((sum, { proxies }) => sum + proxies.length, 0),
        added: [],
        gone: [],
      },
      groups,
      objects,
      findings: {
        appeared: splitBy(baselineOf(ofOld), ofNow).fresh,
        resolved: splitBy(baselineOf(ofNow), ofOld).fresh,
      },
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
        if (error instanceof NodeRefused) return []; // The proxy is connected all the same: its stream ends by itself.
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

/** A version of the folder. */
interface FolderVersion {
  readonly objects: readonly ConfigObject[];
  readonly facts: readonly AnyFact[];
  /** Findings of reading the folder. */
  readonly read: readonly Finding[];
}

function between(old: FolderVersion, now: FolderVersion) {
  const before = new Map(old.objects.map((object) => [object.key, object]));
  const upserted = now.objects.filter(({ key, hash }) => before.get(key)?.hash !== hash) as AnyConfigObject[];
  const removed = keysGone(old.objects, now.objects);
  const facts = { upserted: [...now.facts], removed: keysGone(old.facts, now.facts) };
  const changes: FolderChanges = { ...NOTHING, upserted, removed, facts };
  return { changes, objects: { written: upserted.map(({ key }) => key), removed } };
}

function keysGone(old: readonly { readonly key: string }[], now: readonly { readonly key: string }[]): string[] {
  const there = new Set(now.map(({ key }) => key));
  return old.filter(({ key }) => !there.has(key)).map(({ key }) => key);
}

function factOf({ kind, meta, spec, origin }: SentFact): AnyFact {
  if (kind !== "Secret") return new HashedFact(kind, meta, spec as Fact["spec"], origin, NO_KEY) as AnyFact;
  const { type, keys } = spec as SentSecret;
  const data = Object.fromEntries(keys.map((key) => [key, new ConcealedBytes(new Uint8Array(0))]));
  return new HashedFact(kind, meta, { type, data }, origin, NO_KEY) as AnyFact;
}

/** Nothing here is to be kept from anybody: the data of secrets stayed behind. */
const NO_KEY = new Uint8Array(32);

/** Keys of refused objects in the files. */
function refusedKeys({ index }: OfflineMesh): Set<string> {
  const keys = new Set<string>();
  for (const path of index.paths) {
    for (const { content } of index.file(path)?.documents ?? []) {
      for (const { kind, namespace, name } of content?.refused ?? []) {
        const known = KINDS.find((one) => one === kind);
        if (known !== undefined && name !== "") keys.add(objectKey(known, namespace, name));
      }
    }
  }
  return keys;
}
