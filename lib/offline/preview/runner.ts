/**
 * Answers a server's previews, each in a new worker. Previews run one at a time and in bounded time, and the data for
 * the worker is copied in small parts.
 *
 * Permissions: the permissions of the worker; none of its own.
 *
 * @module
 */
import { type AnyFact, type Fact, FACT_KINDS, type SecretData } from "../../config/facts/types.ts";
import type { Origin } from "../../finding/origin.ts";
import { KINDS } from "../../config/kinds/kinds.ts";
import type { ConfigObject } from "../../config/types.ts";
import { type AskedServer, PreviewFailed, type PreviewRunner } from "../../debug/runners.ts";
import type { DiscoverySettings } from "../../discovery/settings/settings.ts";
import { moduleBeside } from "../../kernel/program/late_module.ts";
import { paced } from "../../kernel/time/paced.ts";
import { fromStruct } from "../../pb/wellknown.ts";
import type { ConnectedNode, PreviewInput, PreviewOutput, SentFact } from "./messages.ts";
import { isSame } from "../diff/diff.ts";

/** Settings of the previews. */
export interface PreviewOptions {
  readonly settings: DiscoverySettings;
  readonly domain: string;
  /** Name of the source replaced by the files: the path of the folder. */
  readonly folder: string;
  /** Services of manifests are part of the server's mesh. Default false. */
  readonly manifestServices?: boolean;
  /** Longest time for a preview, ms. Default {@linkcode PREVIEW_TIME}. */
  readonly time?: number;
}

/** Longest time for a preview, ms. */
const PREVIEW_TIME = 60_000;

/** Objects sent to the worker at once: some milliseconds of copying. */
const CHUNK = 200;

export class WorkerPreviews implements PreviewRunner {
  readonly #options: PreviewOptions;
  #busy = false;

  constructor(options: PreviewOptions) {
    this.#options = options;
  }

  get busy(): boolean {
    return this.#busy;
  }

  async run(body: Uint8Array, view: AskedServer, signal: AbortSignal): Promise<unknown> {
    if (this.#busy) throw new PreviewFailed("another preview is being answered, expected one at a time", 503);
    this.#busy = true;
    const worker = new Worker(moduleBeside("worker", import.meta.url), { type: "module", name: "preview" });
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const ended = new AbortController();
    const { time = PREVIEW_TIME } = this.#options;
    const seconds = time / 1000;
    const timer = setTimeout(() => reject(new PreviewFailed(`no answer within ${seconds} s`, 503)), time);
    const left = () => reject(new PreviewFailed("the client is gone, or the server stops", 503));
    signal.addEventListener("abort", left, { once: true });
    worker.onerror = (event) => {
      event.preventDefault();
      reject(new PreviewFailed(`the preview failed: ${event.message}`, 503));
    };
    worker.onmessage = ({ data }: MessageEvent<PreviewOutput>) => {
      if (data.say === "answer") resolve({ same: isSame(data.radius), ...data.radius });
      else if (data.say === "refused") reject(new PreviewFailed(data.message, 400));
      else if (data.say === "failed") reject(new PreviewFailed(`the preview failed: ${data.message}`, 503));
      else paced(this.#tell(worker, body, view), { signal: ended.signal }).catch(reject);
    };
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", left);
      ended.abort();
      worker.terminate();
      this.#busy = false;
    }
  }

  *#tell(worker: Worker, body: Uint8Array, view: AskedServer): Generator<void, void> {
    const tell = (message: PreviewInput) => worker.postMessage(message);
    const { settings, domain, folder, manifestServices = false } = this.#options;
    tell({ say: "world", settings, domain, manifestServices, mesh: view.mesh, nodes: nodesOf(view) });
    const isOfFolder = ({ origin }: { readonly origin?: Origin }) =>
      origin?.from === "file" && origin.source === folder;
    for (const kind of KINDS) {
      for (const [ofFolder, objects] of Map.groupBy(view.store.list(kind) as readonly ConfigObject[], isOfFolder)) {
        for (const part of chunks(objects)) {
          const sent = part.map(({ kind, meta, spec, origin, assigned }) => ({
            ...{ kind, meta, spec, origin },
            ...(assigned === undefined ? {} : { assigned }),
          }));
          tell({ say: "objects", ofFolder, objects: sent });
          yield;
        }
      }
    }
    for (const kind of FACT_KINDS) {
      for (const [ofFolder, facts] of Map.groupBy(view.facts.list(kind) as readonly Fact[], isOfFolder)) {
        for (const part of chunks(facts)) {
          tell({ say: "facts", ofFolder, facts: part.map(sentFact) });
          yield;
        }
      }
    }
    for (
      const part of chunks(
        [...view.findings()].filter(({ name, place }) => isOfFolder(place) && !FROM_OTHER_SOURCES.has(name)),
      )
    ) {
      tell({ say: "findings", findings: part });
      yield;
    }
    tell({ say: "compare", body });
  }
}

function* chunks<T>(list: readonly T[]): Iterable<readonly T[]> {
  for (let at = 0; at < list.length; at += CHUNK) yield list.slice(at, at + CHUNK);
}

function sentFact(fact: Fact): SentFact {
  const { kind, meta, spec, origin } = fact as AnyFact;
  if (kind !== "Secret") return { kind, meta, spec: spec as SentFact["spec"], origin };
  const { type, data } = spec as SecretData;
  return { kind, meta, spec: { type, keys: Object.keys(data) }, origin };
}

/** Findings about the folder that other sources cause. Other files in the folder do not change these findings. */
const FROM_OTHER_SOURCES: ReadonlySet<string> = new Set(["hidden-object", "outside-root-namespace"]);

/** The connected proxies, each once. */
function nodesOf({ xds }: AskedServer): ConnectedNode[] {
  const found = new Map<string, ConnectedNode>();
  for (const { node } of xds.streams()) {
    if (node?.id === undefined) continue;
    const [, , workload = ""] = node.id.split("~");
    const dot = workload.lastIndexOf(".");
    const name = `${workload.slice(dot + 1)}/${workload.slice(0, Math.max(0, dot))}`;
    found.set(node.id, { name, id: node.id, metadata: fromStruct(node.metadata) });
  }
  return [...found.values()];
}
