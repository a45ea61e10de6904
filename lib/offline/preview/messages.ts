/**
 * The messages between a server and its worker for previews.
 *
 * @module
 */
import type { Fact, FactKind, FactSpecs } from "../../config/facts/types.ts";
import type { Finding } from "../../finding/finding.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { MeshConfig } from "../../config/mesh/types.ts";
import type { ProxyNode } from "../offline_mesh.ts";
import type { DiscoverySettings } from "../../discovery/settings/settings.ts";
import type { BlastRadius } from "../diff/diff.ts";

/** An object as sent to the worker. */
export type SentObject = Pick<ConfigObject, "kind" | "meta" | "spec" | "origin" | "assigned">;

/** A secret without its data: the data does not leave the server's thread. */
export interface SentSecret {
  readonly type: string;
  readonly keys: readonly string[];
}

/** A fact as sent to the worker. */
export interface SentFact extends Pick<Fact, "kind" | "meta" | "origin"> {
  readonly spec: FactSpecs[Exclude<FactKind, "Secret">] | SentSecret;
}

export interface ConnectedNode extends ProxyNode {
  /** `namespace/name`. */
  readonly name: string;
}

/** From the server: the world in parts, then the question. */
export type PreviewInput =
  | {
    readonly say: "world";
    readonly settings: DiscoverySettings;
    readonly domain: string;
    readonly manifestServices: boolean;
    readonly mesh: MeshConfig;
    readonly nodes: readonly ConnectedNode[];
  }
  /** Objects in force, of the folder or of other sources. The other sources stay as they are. */
  | { readonly say: "objects"; readonly ofFolder: boolean; readonly objects: readonly SentObject[] }
  /** Facts, likewise. */
  | { readonly say: "facts"; readonly ofFolder: boolean; readonly facts: readonly SentFact[] }
  /** Findings of reading the folder. */
  | { readonly say: "findings"; readonly findings: readonly Finding[] }
  /** The body of the request. */
  | { readonly say: "compare"; readonly body: Uint8Array };

/** From the worker. */
export type PreviewOutput =
  | { readonly say: "loaded" }
  | { readonly say: "answer"; readonly radius: BlastRadius }
  /** A mistake in the request. */
  | { readonly say: "refused"; readonly message: string }
  | { readonly say: "failed"; readonly message: string };
