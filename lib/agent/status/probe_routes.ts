/**
 * The pages at which the orchestrator probes the application through the agent: `/app-health/...` and
 * `/app-lifecycle/...`. Mutual TLS and redirection keep it from asking the application itself.
 *
 * Permissions: net (the application).
 *
 * @module
 */
import { type HttpRequest, textResponse } from "../../http/message.ts";
import type { Route } from "../../http/route.ts";
import type { Logger } from "../../kernel/log/log.ts";
import type { AppProber } from "../probes/app_probers.ts";
import type { ApplicationProbes, ApplicationProbesInput } from "../probes/application_probes.ts";

/** Inputs of the pages. */
export interface ProbeRoutesInput extends ApplicationProbesInput {
  readonly probers: ReadonlyMap<string, AppProber>;
  readonly log: Logger;
}

/** The pages, and a function that closes the connections that they keep. */
export interface ProbePages {
  readonly routes: Route[];
  close(): void;
}

/**
 * The pages. An application that is well is answered for with 200, or with its own status and body; one that is not with
 * 500 and the reason; a path without a probe is 400.
 */
export function probePages(input: ProbeRoutesInput): ProbePages {
  let loaded: Promise<ApplicationProbes> | undefined;
  // Loaded with the first probe: of a proxy outside of the orchestrator there is none.
  const load = () =>
    loaded ??= import("../probes/application_probes.ts").then(({ ApplicationProbes }) => new ApplicationProbes(input));
  const handle = async (request: HttpRequest) => {
    const path = decodeURIComponent(request.path).replace(/\/$/, "");
    const prober = input.probers.get(path);
    if (prober === undefined) {
      input.log.warn("a probe that MESH_ORCH_APP_PROBERS does not have was asked for", { path: path.slice(0, 200) });
      return textResponse(400, "MESH_ORCH_APP_PROBERS has no such probe\n");
    }
    try {
      return await (await load()).probe(path, prober, request);
    } catch (error) {
      const reason = (error as Error).message;
      input.log.warn("a probe of the application failed", { path, reason });
      return textResponse(500, `${reason}\n`);
    }
  };
  return {
    routes: ["/app-health/*", "/app-lifecycle/*"].map((path) => ({ methods: "any" as const, path, handle })),
    close: () => void loaded?.then((probes) => probes.close(), () => {/* there are none */}),
  };
}
