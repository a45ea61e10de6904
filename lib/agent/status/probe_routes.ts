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
import { PacedLines } from "../../kernel/log/paced_lines.ts";
import type { AppProber } from "../../config/agent_texts/app_probers.ts";
import type { ApplicationProbes, ApplicationProbesInput } from "../probes/application_probes.ts";

/** Longest path of a probe that is looked for, in characters: injection makes short ones. */
const MAX_PATH = 1000;

/** Lines a second about probes that fail: containers have their own, and anybody who reaches the port can ask. */
const MOST_FAILURES = 10;

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
