/**
 * The graphs of the present mesh. Each is made once, whoever asks for a page, its parts, its JSON and its file.
 *
 * @module
 */
import { type GraphSources, type ServiceGraph, serviceGraph } from "./service_graph.ts";

/** Most kept graphs: of the whole mesh, and of the last opened namespaces. */
const MAX_KEPT = 10;

/** Keeps graphs until the mesh changes. */
export class KeptGraphs {
  readonly #sources: () => GraphSources;
  /** By the opened namespace; empty: none. The last used graph is the last of the map. */
  readonly #kept = new Map<string, ServiceGraph>();

  constructor(sources: () => GraphSources) {
    this.#sources = sources;
  }

  /** The graph. @param opened the namespace whose services are shown one by one */
  of(opened?: string): ServiceGraph {
    const name = opened ?? "";
    const graph = this.#kept.get(name) ?? serviceGraph(this.#sources(), opened);
    this.#kept.delete(name);
    this.#kept.set(name, graph);
    for (const other of this.#kept.keys()) {
      if (this.#kept.size <= MAX_KEPT) break;
      this.#kept.delete(other);
    }
    return graph;
  }

  /** Call after every change of the mesh. */
  clear(): void {
    this.#kept.clear();
  }
}
