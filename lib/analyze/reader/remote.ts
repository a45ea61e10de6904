/**
 * Queries of analyzers about remote clusters and connected gateways. Neither is among the server's own objects.
 *
 * @module
 */
import type { Fact } from "../../config/facts/types.ts";
import { ANALYSIS_KEY } from "./keys.ts";
import type { AnalyzedWorld, ConnectedGateway, RemoteFacts } from "./source.ts";

export class RemoteReader {
  readonly #facts: RemoteFacts;
  readonly #gateways: AnalyzedWorld["connectedGateways"];
  readonly #on: (kind: string, name: string) => void;

  /** @param on Notes a dependency of an answer. */
  constructor(
    { remoteFacts, connectedGateways }: Pick<AnalyzedWorld, "remoteFacts" | "connectedGateways">,
    on: (kind: string, name: string) => void,
  ) {
    this.#facts = remoteFacts?.() ?? new Map();
    this.#gateways = connectedGateways;
    this.#on = on;
  }

  /** Names of the fully read clusters. */
  clusters(): readonly string[] {
    this.#on(ANALYSIS_KEY.remoteClusters, "");
    return [...this.#facts.keys()].sort();
  }

  /** The workloads of connected gateways. */
  gateways(): readonly ConnectedGateway[] {
    this.#on(ANALYSIS_KEY.connectedGateways, "");
    return this.#gateways?.() ?? [];
  }

  /** A secret of a cluster. */
  secret(cluster: string, namespace: string, name: string): Fact<"Secret"> | undefined {
    this.#on(ANALYSIS_KEY.remoteSecret, name);
    return this.#facts.get(cluster)?.get("Secret", namespace, name);
  }

  /** The secrets of a name in a cluster, of all namespaces. */
  secrets(cluster: string, name: string): readonly Fact<"Secret">[] {
    this.#on(ANALYSIS_KEY.remoteSecret, name);
    return this.#facts.get(cluster)?.list("Secret").filter(({ meta }) => meta.name === name) ?? [];
  }
}
