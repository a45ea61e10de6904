/**
 * The injection of a server: its configuration, its answers, and the pods without a proxy.
 *
 * Permissions: read of the configuration's files and their folders; the permissions of the client.
 *
 * @module
 */
import * as z from "zod";
import type { InjectionView } from "../../debug/view.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { DiscoverySettings } from "../settings/settings.ts";
import type { Configuration } from "../sources/configuration.ts";
import type { MeshSource } from "../sources/mesh_source.ts";
import { InjectionConfiguration } from "./configuration.ts";
import { Injector } from "./injector.ts";
import { MissedPods } from "./missed_pods.ts";
import { currentInjectionSettings, type InjectionVariables } from "./settings.ts";
import { watchInjectionTexts } from "./texts.ts";

/** Milliseconds until the API's version is asked for again: a cluster is upgraded while its servers run. */
const AGAIN_MS = 5 * 60_000;

/** A minor version may have a sign after the number. */
const versionSchema = z.object({ minor: z.string().regex(/^\d+/).transform((text) => parseInt(text, 10)) });

/**
 * Asks for the minor version of the orchestrator's API until the kernel stops: pods may have the fields that the
 * version knows. The returned function gives the last answer; undefined: the version is not known yet.
 */
function followApiVersion(
  client: ApiClient,
  { stopper, clock }: Pick<Kernel, "clock" | "stopper">,
): () => number | undefined {
  let minor: number | undefined;
  const stop = new AbortController();
  const follow = async () => {
    while (!stop.signal.aborted) {
      try {
        const read = versionSchema.safeParse(await client.json({ path: "/version", signal: stop.signal }));
        if (read.success) minor = read.data.minor;
      } catch {
        // The API is away. The informers report the outage, and the last version stays.
      }
      await clock.sleep(AGAIN_MS, stop.signal).catch(() => {});
    }
  };
  const done = follow();
  stopper.add("version of the API", async () => {
    stop.abort(new Error("the server stops"));
    await done;
  });
  return () => minor;
}

/** Inputs of injection. */
export interface InjectionParts {
  readonly configuration: Pick<Configuration, "facts" | "store">;
  readonly mesh: Pick<MeshSource, "state" | "onChange">;
  /** Undefined: there is no orchestrator. */
  readonly client: ApiClient | undefined;
  readonly clusterId: string;
  readonly systemNamespace: string;
}

/** A running injection. */
export interface Injection {
  readonly injector: Injector;
  readonly view: InjectionView;
}

/** The settings in use. */
export type InjectionStartVariables = InjectionVariables & Pick<DiscoverySettings, "INJECT_ENABLED">;

/**
 * Starts injection; undefined: injection is switched off (`INJECT_ENABLED`). The server becomes ready after a
 * configuration without mistakes was read; the wait happens in the background.
 */
export function startInjection(
  { configuration: { facts, store }, mesh, client, clusterId, systemNamespace: namespace }: InjectionParts,
  settings: InjectionStartVariables,
  kernel: Pick<Kernel, "log" | "metrics" | "clock" | "readiness" | "stopper">,
): Injection | undefined {
  if (!settings.INJECT_ENABLED) return undefined;
  const { clock, metrics } = kernel;
  const log = kernel.log.scope("default");
  const { REVISION: revision } = settings;
  const configuration = new InjectionConfiguration(log);
  const apiMinor = client === undefined ? () => undefined : followApiVersion(client, kernel);
  const current = currentInjectionSettings({ configuration, mesh, store, apiMinor, clusterId, settings });
  const injector = new Injector({ settings: current, facts, metrics, log, clock });
  const config = () => configuration.state?.config;
  const missed = new MissedPods({ facts, scope: { revision, namespace }, config, log, clock });
  kernel.stopper.add("pods without a proxy", () => missed.stop());
  const ready = kernel.readiness.task("injection configured");
  configuration.onChange(() => {
    ready();
    missed.lookAgain();
  });
  watchInjectionTexts({ client, namespace, revision }, (texts) => configuration.take(texts), kernel);
  const view = {
    get configuration() {
      const { state, problems } = configuration;
      return { ...state, problems };
    },
    missed: () => missed.all(),
  };
  return { injector, view };
}
