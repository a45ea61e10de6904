/**
 * The webhooks of the server, as HTTP routes for the orchestrator's API.
 *
 * @module
 */
import { API_VERSIONS, groupOfKind, pluralOfKind, spellingsOfKind } from "../../config/spelling/spelling.ts";
import { MESH_KINDS } from "../../config/kinds/kinds.ts";
import { FairPlaces } from "../../authenticators/fair_places.ts";
import type { Route } from "../../http/route.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import type { AdmissionAnswer, AdmissionRequest } from "../../webhook/admission.ts";
import { addressGroup } from "../../sockets/transport/address_group.ts";
import { type Webhook, webhookRoute } from "../../webhook/route.ts";
import { LargeReviews, type ReviewTurns } from "../../webhook/large_reviews.ts";
import { validate, type Validation } from "../../webhook/validation.ts";
import type { Injector } from "./injector.ts";
import { type InjectionParts, type InjectionStartVariables, startInjection, startPodSettings } from "./start.ts";
import type { SecurePortOptions } from "../identity/secure_port.ts";
import { followingTls } from "../identity/webhook_identity.ts";

/** The validating webhook is asked only about the mesh's kinds: definitions of the Gateway API check themselves. */
const GROUPS: ReadonlySet<string> = new Set(
  MESH_KINDS.map(groupOfKind).flatMap((group) => ["mesh", "istio"].map((domain) => `${group}.${domain}.io`)),
);
const VERSIONS: ReadonlySet<string> = new Set(API_VERSIONS);
const RESOURCES: ReadonlySet<string> = new Set(MESH_KINDS.flatMap(spellingsOfKind).map(pluralOfKind));

/** Most causes of a refusal in the log. The answer has all causes. */
const MOST_LOGGED = 10;

/** One large review at a time. A waiting review holds up to 7 MiB. */
const LARGE_TURNS = { asked: 1, ofGroup: 1, waitingOfGroup: 8, waiting: 16 } as const;

/** The part of an injector that webhooks use. */
type AskedInjector = Pick<Injector, "answer" | "refused" | "failed">;

/** Path of the validating webhook. */
const VALIDATE = "/validate";

/** Path of the injector; parameters follow. */
const INJECT = "/inject";

/**
 * Starts the parts of webhooks: injection when webhooks are served in plain text or over TLS, and the certificate of
 * the port.
 *
 * @param tls Undefined: the server has no certificate.
 */
export function startWebhooks(
  parts: InjectionParts & {
    /** As in `PortOptions`. */
    readonly webhooks?: string | undefined;
    /** Whether other parts need the settings of pods, even if no pod is injected. */
    readonly needsPodSettings: boolean;
  },
  tls: SecurePortOptions | undefined,
  settings: InjectionStartVariables,
  kernel: Pick<Kernel, "log" | "metrics" | "clock" | "readiness" | "stopper">,
) {
  const served = parts.webhooks === "" || (parts.webhooks !== undefined && tls !== undefined);
  const injects = served && settings.INJECT_ENABLED;
  const pods = injects || parts.needsPodSettings ? startPodSettings(parts, settings, kernel) : undefined;
  const injection = injects && pods !== undefined ? startInjection(parts, pods, settings, kernel) : undefined;
  const webhookTls = tls && followingTls(tls, kernel);
  return { injection, pods, webhookTls, webhookRoots: parts.webhooks ? webhookTls?.serverRoots : undefined };
}

/**
 * The routes of all webhooks.
 *
 * @param injector Undefined: pods are not injected.
 */
export function webhookRoutes(
  { log, metrics, clock, stopper }: Pick<Kernel, "log" | "metrics" | "clock" | "stopper">,
  injector: AskedInjector | undefined,
): Route[] {
  const large = new LargeReviews(clock, turnsByAddress(clock));
  stopper.add("large reviews", () => large.stop());
  const server = log.scope("validationServer");
  const failed = (status: number) => {
    metrics.counter("galley_validation_http_error").inc({ status: String(status) });
    server.debug("a request was not a review", { status });
  };
  const judged = (request: AdmissionRequest, verdict: Validation): AdmissionAnswer => {
    const { resource: { group, version, resource }, namespace = "", name = "" } = request;
    const labels = {
      group: known(GROUPS, group),
      version: known(VERSIONS, version),
      resource: known(RESOURCES, resource),
    };
    if (verdict.failure === undefined) {
      metrics.counter("galley_validation_passed").inc(labels);
      return verdict;
    }
    metrics.counter("galley_validation_failed").inc({ ...labels, reason: verdict.failure });
    const causes = verdict.causes.slice(0, MOST_LOGGED).map(({ message }) => message);
    const object = { namespace: short(namespace), name: short(name) };
    server.info("an object is refused", { ...labels, ...object, reason: verdict.failure, causes });
    return verdict;
  };
  const answer = (request: AdmissionRequest) => judged(request, validate(request));
  return [
    webhookRoute(VALIDATE, { subject: "object", answer, judged, failed }, large),
    ...(injector === undefined ? [] : injectionRoutes(injector, large)),
  ];
}

function turnsByAddress(clock: Kernel["clock"]): ReviewTurns {
  const places = new FairPlaces(() => clock.monotonic(), LARGE_TURNS);
  return {
    enter: (address, signal) => places.enter(addressGroup(address), signal),
    leave: (address) => places.leave(addressGroup(address)),
  };
}

function injectionRoutes(injector: AskedInjector, large: LargeReviews): Route[] {
  const webhook: Webhook = {
    subject: "pod",
    answer: (request, path) => injector.answer(request, path),
    judged: (request, { causes }) => injector.refused(request, causes.map(({ message }) => message)),
    failed: (_, reason) => injector.failed(reason),
    unread: "refused",
  };
  return [webhookRoute(INJECT, webhook, large), webhookRoute(`${INJECT}/*`, webhook, large)];
}

/** Any client of the port may ask about any name: only known names become labels of a metric. */
function known(names: ReadonlySet<string>, text: string): string {
  return names.has(text) ? text : "other";
}

/** The longest name in the API has 253 characters. */
function short(text: string): string {
  return text.slice(0, 253);
}
