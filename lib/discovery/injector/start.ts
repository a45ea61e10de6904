/**
 * The injection of a server: its configuration, its answers, and the pods that were missed.
 *
 * Permissions: read of the configuration's files and their folders; those of the client.
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

// The version of the orchestrator's API: pods may have the fields that it understands.

/** Time until it is asked again, ms: a cluster is upgraded while its servers run. */
const AGAIN_MS = 5 * 60_000;

/** Minor versions may have a sign behind the number. */
const versionSchema = z.object({ minor: z.string().regex(/^\d+/).transform((text) => parseInt(text, 10)) });

/** Asks for the minor version until the kernel stops; the function gives the last one, undefined: not known. */
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
        // Away for now: the informers say so, and the last version stays.
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

/** The variables that are read. */
export type InjectionStartVariables = InjectionVariables & Pick<DiscoverySettings, "INJECT_ENABLED">;

/**
 * Starts it; undefined: it is switched off (`INJECT_ENABLED`). The server is ready once there is a configuration without
 * mistakes, which is waited for in the background.
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
