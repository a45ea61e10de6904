/**
 * Texts of configuration, analyzed as a folder would be, without a server.
 *
 * @module
 */
import type { AnalysisSettings } from "../../../lib/analyze/reader/source.ts";
import { Analysis } from "../../../lib/analyze/analysis.ts";
import { FindingPlaces } from "../../../lib/analyze/places.ts";
import { FactStore } from "../../../lib/config/facts/store.ts";
import { type Finding, findingObject } from "../../../lib/finding/finding.ts";
import type { FactKind } from "../../../lib/config/facts/types.ts";
import { DerivationEngine } from "../../../lib/config/derive/engine.ts";
import type { VerdictListener } from "../../../lib/gateway_api/groups/derivation.ts";
import { gatewayApiDerivations } from "../../../lib/gateway_api/groups/options.ts";
import { GatewayApiVerdicts } from "../../../lib/gateway_api/groups/verdicts.ts";
import { servedGatewayApi } from "../../../lib/analyze/reader/source.ts";
import type { SettingsOf } from "../../../lib/kernel/settings/catalogue.ts";
import { defaultSettings } from "../../../lib/kernel/settings/read.ts";
import { ConfigStore } from "../../../lib/config/store.ts";
import type { MeshConfig } from "../../../lib/config/mesh/types.ts";
import { type AnyConfigObject, type Kind, objectKey } from "../../../lib/config/types.ts";
import { FolderIndex } from "../../../lib/folder/index.ts";
import { unpaced } from "../../../lib/kernel/time/paced.ts";
import { Fixture } from "../../discovery/fixture.ts";

/** Settings of the program other than its defaults. */
export type Variables = Partial<SettingsOf<"pilot-discovery">>;

const FROM_FOLDER = { domain: "cluster.local", isFolder: true } as const;

/** A folder of changing texts, with its analysis. */
export class AnalyzedFolder {
  readonly index = new FolderIndex({ defaultNamespace: "default", source: "" });
  readonly store = new ConfigStore();
  readonly facts = new FactStore();
  /** Objects of remote clusters. Call {@linkcode Analysis.remoteChanged} after a change. */
  readonly remote = new Map<string, FactStore>();
  readonly fixture: Fixture;
  readonly analysis: Analysis;
  readonly places = new FindingPlaces((key) => {
    const [kind = "", namespace = "", name = ""] = key.split("/");
    return (this.store.get(kind as Kind, namespace, name) ?? this.facts.get(kind as FactKind, namespace, name))?.origin;
  });
  readonly #texts = new Map<string, Uint8Array>();
  readonly #source = this.store.addSource("", 0);
  readonly #factSource = this.facts.addSource("", 0);
  #steps: Generator<void, void> | undefined;
  /** What was found out about objects of the Gateway API. */
  readonly verdicts = new GatewayApiVerdicts();
  readonly #variables: Variables;

  constructor(
    mesh: Partial<MeshConfig> = {},
    assumeServices = false,
    now = () => Date.UTC(2026, 0, 1),
    more: Partial<AnalysisSettings> = {},
    variables: Variables = {},
  ) {
    this.#variables = variables;
    this.fixture = new Fixture({ mesh });
    const { pipeline } = this.fixture;
    const { store, facts } = this;
    const settings = { domainSuffix: "cluster.local", assumeServices, ...more };
    const failed = (key: string, error: unknown) => {
      throw new Error(`analysis of ${key}`, { cause: error });
    };
    const remoteFacts = () => this.remote;
    const gatewayApi = this.#gatewayApi();
    const options = { store, facts, settings, gatewayApi, failed, now, remoteFacts };
    this.analysis = new Analysis(options, pipeline.translator.mesh);
    this.verdicts.onChange((keys) => this.analysis.verdictsChanged(keys));
    pipeline.applied.listen((applied) => {
      if ("objects" in applied) return this.analysis.reset(pipeline.translator.mesh, applied.objects);
      this.analysis.changed(applied.change.removed, applied.change.added, applied.affected);
    });
    facts.subscribe((changes) => this.analysis.factsChanged(changes));
    const on = defaultSettings("pilot-discovery", this.#variables);
    const learned: VerdictListener = (group, verdicts) => this.verdicts.learn(group, verdicts);
    const { mesh: config } = pipeline;
    for (const derivation of gatewayApiDerivations({ ...FROM_FOLDER, learned }, on)) {
      const target = store.addSource(derivation.name, 1);
      new DerivationEngine(derivation, { store, facts, mesh: config, target, onFindings: () => {} });
    }
    store.subscribe(({ added, updated, removed }) => {
      const gone = [...removed, ...updated.map((one) => one.old)] as AnyConfigObject[];
      const come = [...added, ...updated.map((one) => one.new)] as AnyConfigObject[];
      pipeline.configChanged(gone, come);
    });
  }

  #gatewayApi() {
    return servedGatewayApi(this.verdicts, FROM_FOLDER, defaultSettings("pilot-discovery", this.#variables));
  }

  /**
   * Writes files; undefined removes a file.
   *
   * @param steps Number of steps of the analysis, which goes on with the next call. Default: all, so that findings are
   * up to date afterwards.
   */
  write(files: Readonly<Record<string, string | undefined>>, steps = Infinity): void {
    const encoder = new TextEncoder();
    const changes = this.index.apply(
      Object.entries(files).map(([path, text]) => ({ path, bytes: text === undefined ? text : encoder.encode(text) })),
    );
    this.#factSource.apply(changes.facts);
    this.#source.apply(changes);
    this.fixture.pipeline.flush();
    this.analysis.refusedChanged(this.#refused());
    this.#advance(steps);
    for (const [path, text] of Object.entries(files)) this.#texts.set(path, encoder.encode(text ?? ""));
    for (const batch of this.places.missing(this.analysis.findings())) {
      unpaced(this.places.locate(batch, this.#texts.get(batch.file.file)));
    }
  }

  #advance(steps: number): void {
    for (let left = steps; left > 0 && this.analysis.isBehind; left--) {
      this.#steps ??= this.analysis.steps();
      if (this.#steps.next().done) this.#steps = undefined;
    }
  }

  #refused(): Set<string> {
    const errors = this.index.findings().filter(({ severity }) => severity === "error").map(findingObject);
    const keys = errors.filter(({ name }) => name !== "").map(({ kind, namespace, name }) => ({
      key: objectKey(kind as Kind, namespace, name),
      object: this.store.get(kind as Kind, namespace, name),
    }));
    return new Set(keys.filter(({ object }) => object === undefined).map(({ key }) => key));
  }

  /** Findings of reading, then findings over the whole mesh. */
  findings(): Finding[] {
    return [...this.index.findings(), ...[...this.analysis.findings()].map((one) => this.places.placed(one))];
  }
}

/** The findings of texts. */
export function findingsIn(
  files: Readonly<Record<string, string>>,
  mesh: Partial<MeshConfig> = {},
  variables: Variables = {},
): Finding[] {
  const folder = new AnalyzedFolder(mesh, false, undefined, {}, variables);
  folder.write(files);
  return folder.findings();
}
