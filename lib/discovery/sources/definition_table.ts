/**
 * What the server found among the orchestrator's definitions of kinds: one log line for each change, and a finding for
 * each definition that the server cannot read.
 *
 * @module
 */
import { isGatewayApiKind, type Kind, MESH_KINDS } from "../../config/kinds/kinds.ts";
import { fieldFinding, type Finding, findingChanges } from "../../finding/finding.ts";
import type { Logger } from "../../kernel/log/log.ts";
import {
  definitionName,
  DEFINITIONS,
  type MeshDefinition,
  readVersions,
  watchedVersion,
} from "../../orch/resources/definitions.ts";
import type { FindingsListener } from "./feed.ts";

/** A definition whose served versions the server does not read. */
export interface UnreadDefinition {
  readonly definition: MeshDefinition;
  /** The served versions, sorted. */
  readonly served: readonly string[];
  /** The version of the Gateway API that the definition is from; empty: not known. */
  readonly bundle: string;
}

/** The definitions that exist. */
export interface FoundDefinitions {
  readonly watched: readonly { readonly definition: MeshDefinition; readonly version: string }[];
  /** The API does not serve the definitions, or not yet. */
  readonly unserved: readonly MeshDefinition[];
  /** The API serves the definitions, but in no version that the server reads. */
  readonly unread: readonly UnreadDefinition[];
}

/** Inputs of the table. */
export interface DefinitionTableOptions {
  readonly kinds: readonly Kind[];
  readonly onFindings: FindingsListener;
  readonly log: Logger;
  /** Name of the cluster, as the source of findings. */
  readonly source: string;
  /** Name of the cluster in log lines. Default: log lines name no cluster. */
  readonly cluster?: string;
}

export class DefinitionTable {
  readonly #options: DefinitionTableOptions;
  #shown = "";
  #findings: readonly Finding[] = [];

  constructor(options: DefinitionTableOptions) {
    this.#options = options;
  }

  /** A finding for each definition that cannot be read. */
  findings(): readonly Finding[] {
    return this.#findings;
  }

  /** Takes the present definitions. Logs a line if anything has changed. */
  show({ watched, unserved, unread }: FoundDefinitions): void {
    const { kinds, log, cluster, onFindings, source } = this.#options;
    const before = this.#findings;
    this.#findings = unread.map((one) => unreadFinding(one, source));
    onFindings(findingChanges(before, this.#findings));
    const has = new Set(watched.map(({ definition }) => definition.kind));
    const [behindSwitch, others] = [unread.filter(isBehindSwitch), unread.filter((one) => !isBehindSwitch(one))];
    const fields = {
      watched: watched.map(({ definition, version }) => `${definitionName(definition)} ${version}`),
      // A cluster needs no Gateway API. InferencePools are read because a setting says so.
      without: [...MESH_KINDS, "InferencePool" as const].filter((kind) => kinds.includes(kind) && !has.has(kind)),
      ...(unserved.length > 0 ? { notServed: unserved.map(definitionName) } : {}),
      ...(others.length > 0 ? { otherVersion: others.map(nameAndVersions) } : {}),
      ...(behindSwitch.length > 0 ? { alpha: behindSwitch.map(nameAndVersions) } : {}),
    };
    const table = JSON.stringify(fields);
    if (table === this.#shown) return;
    this.#shown = table;
    const level = unserved.length + others.length > 0 ? "warn" : "info";
    log[level]("definitions of the kinds", { ...(cluster === undefined ? {} : { cluster }), ...fields });
  }
}

function nameAndVersions({ definition, served }: UnreadDefinition): string {
  return `${definitionName(definition)} ${served.join(" ")}`;
}

/** Whether the server would read a served version if PILOT_ENABLE_ALPHA_GATEWAY_API were on. */
function isBehindSwitch({ definition: { kind }, served }: UnreadDefinition): boolean {
  return watchedVersion(kind, new Set(served), true) !== undefined;
}

function unreadFinding(unread: UnreadDefinition, source: string): Finding {
  const { definition, served, bundle } = unread;
  const { kind, written } = definition;
  const hasSwitch = isBehindSwitch(unread);
  const object = { kind: DEFINITIONS.kind, namespace: "", name: definitionName(definition) };
  const origin = { from: "api", source, uid: "" } as const;
  const place = { objects: [object], field: "spec.versions", origin, line: 0 };
  const value = `${served.join(", ")}${bundle === "" ? "" : ` of the Gateway API ${bundle}`}`;
  const versions = readVersions(kind, false).join(" or ");
  // An experimental kind has only alpha versions.
  const expected = hasSwitch
    ? `${
      versions === "" ? "a stable version" : versions
    }; alpha versions are read only with PILOT_ENABLE_ALPHA_GATEWAY_API`
    : `one of ${readVersions(kind, true).join(", ")}`;
  const found = fieldFinding("unread-definition", hasSwitch ? "info" : "warning", place, value, expected);
  return {
    ...found,
    effect: `No ${written} is read.`,
    fix: isGatewayApiKind(kind) ? fixOf(written, versions, readVersions(kind, true), hasSwitch) : found.fix,
  };
}

/** What ends the finding about a definition of the Gateway API. @param stable Empty: the kind has only alpha versions. */
function fixOf(written: string, stable: string, all: readonly string[], hasSwitch: boolean): string {
  const install = `definitions of the Gateway API with ${stable === "" ? all.join(" or ") : stable} of ${written}`;
  const turn = "PILOT_ENABLE_ALPHA_GATEWAY_API=true";
  if (!hasSwitch) return `Install ${install}.`;
  return stable === "" ? `Set ${turn}.` : `Install ${install}, or set ${turn}.`;
}
