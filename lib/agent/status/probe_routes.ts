/**
 * The pages at which the orchestrator probes the application through the agent: `/app-health/...` and
 * `/app-lifecycle/...`. Because of mutual TLS and redirection the orchestrator cannot probe the application itself.
 *
 * Permissions: net (the application).
 *
 * @module
 */
import { type HttpRequest, textResponse } from "../../http/message.ts";
import type { Route } from "../../http/route.ts";
import type { Logger } from "../../kernel/log/log.ts";
import { PacedLines } from "../../kernel/log/paced_lines.ts";
import type { AppProber } from "../../config/agent_texts/app_probers.ts";
import type { ApplicationProbes, ApplicationProbesInput } from "../probes/application_probes.ts";

/** Longest path of a probe, in characters. Injection makes short paths. */
const MAX_PATH = 1000;

/** Log lines a second about failed probes. Each container has probes, and everybody who reaches the port can ask. */
const MOST_FAILURES = 10;

/** Inputs of the pages. */
export interface ProbeRoutesInput extends ApplicationProbesInput {
  readonly probers: ReadonlyMap<string, AppProber>;
  readonly log: Logger;
}

/** The pages, and a function that closes kept connections. */
export interface ProbePages {
  readonly routes: Route[];
  close(): void;
}

/**
 * The pages. A healthy application gives 200, or the application's own status and body. An unhealthy application gives
 * 500 with the reason. A path without a probe gives 400.
 */
export function probePages(input: ProbeRoutesInput): ProbePages {
  let loaded: Promise<ApplicationProbes> | undefined;
  // Loaded with the first probe: of a proxy outside of the orchestrator there is none.
  const load = () =>
    loaded ??= import("../probes/application_probes.ts").then(({ ApplicationProbes }) => new ApplicationProbes(input));
  const [strange, failed] = [new PacedLines(), new PacedLines(undefined, MOST_FAILURES)];
  const handle = async (request: HttpRequest) => {
    const path = decodeURIComponent(request.path).replace(/\/$/, "").slice(0, MAX_PATH);
    const prober = input.probers.get(path);
    if (prober === undefined) {
      const unsaid = strange.next();
      if (unsaid) input.log.warn("a probe that MESH_ORCH_APP_PROBERS does not have was asked for", { path, ...unsaid });
      return textResponse(400, "MESH_ORCH_APP_PROBERS has no such probe\n");
    }
    try {
      return await (await load()).probe(path, prober, request);
    } catch (error) {
      const reason = (error as Error).message;
      const unsaid = failed.next();
      if (unsaid) input.log.warn("a probe of the application failed", { path, reason, ...unsaid });
      return textResponse(500, `${reason}\n`);
    }
  };
  return {
    routes: ["/app-health/*", "/app-lifecycle/*"].map((path) => ({ methods: "any" as const, path, handle })),
    close: () => void loaded?.then((probes) => probes.close(), () => {/* there are none */}),
  };
}
