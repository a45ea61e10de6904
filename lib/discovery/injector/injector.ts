/**
 * Answers the API about new pods: with the patch that adds the proxy, or with every reason against a proxy. Nothing is
 * kept of a request, so a dry run has no effect.
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";
import type { FactStore } from "../../config/facts/store.ts";
import { injectPod } from "../../injection/steps/inject.ts";
import { jsonPatch } from "../../injection/json_patch.ts";
import { type InjectedPod, readPod } from "../../injection/pod.ts";
import type { InjectionResult, InjectionSettings } from "../../injection/types.ts";
import type { Logger } from "../../kernel/log/log.ts";
import { PacedLines } from "../../kernel/log/paced_lines.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Clock } from "../../kernel/time/clock.ts";
import type { AdmissionAnswer, AdmissionRequest } from "../../webhook/admission.ts";
import { readInjectionPath } from "../../webhook/injection_path.ts";

/** Inputs of answers. */
export interface InjectorParts {
  /** The settings for all pods, or the problems that leave injection without a configuration. */
  readonly settings: () => InjectionSettings | { readonly problems: readonly string[] };
  /** Has the objects of namespaces. */
  readonly facts: Pick<FactStore, "get">;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly clock: Pick<Clock, "monotonic">;
}

/** Most log lines a second about refused pods: anyone who reaches the port may ask about any number of pods. */
const MOST_LINES = 10;

const ADMITTED: AdmissionAnswer = { causes: [], warnings: [] };

export class Injector {
  readonly #parts: InjectorParts;
  readonly #defects: PacedLines;
  readonly #strange: PacedLines;
  readonly #refusals: PacedLines;

  constructor(parts: InjectorParts) {
    this.#parts = parts;
    this.#defects = new PacedLines(parts.clock, MOST_LINES);
    this.#strange = new PacedLines(parts.clock);
    this.#refusals = new PacedLines(parts.clock, MOST_LINES);
  }

  /**
   * The answer to a request. Never throws: when the injector fails, the pod is refused.
   *
   * @param path Path of the request, with parameters.
   */
  answer(request: AdmissionRequest, path: string): AdmissionAnswer {
    const { metrics, clock } = this.#parts;
    const began = clock.monotonic();
    metrics.counter("sidecar_injection_requests_total").inc();
    try {
      return this.#answer(request, path);
    } catch (error) {
      const unsaid = this.#defects.next();
      if (unsaid) this.#parts.log.error("a pod could not be injected", { ...placeOf(request), error, ...unsaid });
      return this.#refuse([`the injector failed: ${errorMessage(error)}`]);
    } finally {
      metrics.histogram("sidecar_injection_time_seconds").observe((clock.monotonic() - began) / 1000);
    }
  }

  /** The answer to a request whose pod is refused before it is read. */
  refused(request: AdmissionRequest, problems: readonly string[]): AdmissionAnswer {
    this.#parts.metrics.counter("sidecar_injection_requests_total").inc();
    return this.#refusedPod(placeOf(request), problems);
  }

  /** Counts and logs a request that is not a review of a pod. */
  failed(reason: string): void {
    this.#parts.metrics.counter("sidecar_injection_requests_total").inc();
    this.#parts.metrics.counter("sidecar_injection_failure_total").inc();
    const unsaid = this.#strange.next();
    if (unsaid) {
      this.#parts.log.warn("a request was not a review of a pod", { reason: reason.slice(0, 1000), ...unsaid });
    }
  }

  #answer(request: AdmissionRequest, path: string): AdmissionAnswer {
    const { metrics, log } = this.#parts;
    const { problems: warnings, ...parameters } = readInjectionPath(path);
    const result = this.#result(request, parameters);
    const place = { ...placeOf(request), ...(request.dryRun === true && { dryRun: true }) };
    switch (result.kind) {
      case "skipped":
        metrics.counter("sidecar_injection_skip_total").inc();
        log.info("a pod gets no proxy", { ...place, why: result.reason });
        return { ...ADMITTED, warnings: [...warnings, ...(result.warnings ?? [])] };
      case "refused":
        return { ...this.#refusedPod(place, result.problems), warnings };
      case "injected":
        metrics.counter("sidecar_injection_success_total").inc();
        log.info("a pod gets its proxy", {
          ...place,
          ...(result.warnings.length > 0 && { warnings: result.warnings }),
        });
        return {
          causes: [],
          warnings: [...warnings, ...result.warnings],
          patch: jsonPatch(request.object, result.pod),
        };
    }
  }

  #result(
    { resource, subResource = "", operation, namespace = "", object }: AdmissionRequest,
    parameters: InjectionParametersOfPath,
  ): InjectionResult {
    if (resource.resource !== "pods" || subResource !== "" || operation !== "CREATE") {
      return { kind: "skipped", reason: "the request does not create a pod" };
    }
    const settings = this.#parts.settings();
    if ("problems" in settings) return { kind: "refused", problems: settings.problems };
    const read = readPod(object);
    if ("problems" in read) return { kind: "refused", problems: read.problems };
    const { pod } = read;
    const of = namespace || pod.metadata.namespace || "default";
    const labels = this.#parts.facts.get("Namespace", "", of)?.meta;
    const known = labels && { namespaceLabels: labels.labels, namespaceAnnotations: labels.annotations };
    return injectPod({ pod, namespace: of, parameters, ...known }, settings);
  }

  #refusedPod(place: object, all: readonly string[]): AdmissionAnswer {
    const problems = firstOf(all);
    const unsaid = this.#refusals.next();
    if (unsaid) this.#parts.log.warn("a pod is refused", { ...place, problems, ...unsaid });
    return this.#refuse(problems);
  }

  #refuse(problems: readonly string[]): AdmissionAnswer {
    this.#parts.metrics.counter("sidecar_injection_failure_total").inc();
    return { causes: problems.map((message) => ({ field: "", message })), warnings: [] };
  }
}

/** Most problems in an answer and in the log: a pod may have a hundred thousand problems. */
const MOST_PROBLEMS = 100;

function firstOf(problems: readonly string[]): readonly string[] {
  if (problems.length <= MOST_PROBLEMS) return problems;
  return [...problems.slice(0, MOST_PROBLEMS), `and ${problems.length - MOST_PROBLEMS} more problems`];
}

type InjectionParametersOfPath = Omit<ReturnType<typeof readInjectionPath>, "problems">;

/** The pod, for the log. A pod that another object creates has no name yet. */
function placeOf({ namespace = "", name = "", object }: AdmissionRequest) {
  const { metadata } = (object ?? {}) as { readonly metadata?: Partial<InjectedPod["metadata"]> };
  return { namespace, pod: name || metadata?.name || `${metadata?.generateName ?? ""}*` };
}
