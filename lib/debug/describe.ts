/**
 * `/debug/describe`: which objects of the mesh concern a pod or a service, and what they make of it.
 *
 * @module
 */
import * as z from "zod";
import { type Finding, findingKeys } from "../finding/finding.ts";
import { type HttpRequest, type HttpResponse, jsonResponse, textResponse } from "../http/message.ts";
import type { MeshServiceDescription, PodDescription, WithFindings } from "./description.ts";
import { findingsOf } from "./findings.ts";
import { queried, textQuery } from "./query.ts";
import { type DescribeAsked, NotExplained } from "./runners.ts";
import type { DebugView } from "./view.ts";

const QUERY = z.object({
  pod: textQuery("name.namespace or an address").optional(),
  service: textQuery("name.namespace or a host").optional(),
});

/** The page. `pod=cart.shop` or `service=reviews.shop`. */
export const describePage = queried(QUERY, async (request: HttpRequest, view, query): Promise<HttpResponse> => {
  const described = await describedBy(query, view);
  return "status" in described ? described : jsonResponse(withFindings(described, findingsOf(view)), request);
});

/** The description of a pod or of a service, or a response that says why there is none. */
export async function describedBy(
  asked: DescribeAsked,
  view: DebugView,
): Promise<PodDescription | MeshServiceDescription | HttpResponse> {
  if ((asked.pod === undefined) === (asked.service === undefined)) {
    return textResponse(400, "expected one of the queries pod and service\n");
  }
  if (view.explainer === undefined) {
    return textResponse(501, "this server describes nothing; the program pilot-discovery does\n");
  }
  try {
    const described = await view.explainer.describe(asked, view);
    await view.analysis.settled();
    return described;
  } catch (error) {
    if (error instanceof NotExplained) return textResponse(404, `${error.message}\n`);
    throw error;
  }
}

/** A description of either sort, with the findings about its objects. */
export type FoundDescription = WithFindings<PodDescription> | WithFindings<MeshServiceDescription>;

/** Adds the findings about the objects of a description, among all findings. */
export function withFindings(
  described: PodDescription | MeshServiceDescription,
  all: readonly Finding[],
): FoundDescription {
  const { keys, ...shown } = described;
  const about = new Set(keys);
  return {
    ...shown,
    findings: all.filter((one) => findingKeys(one).some((key) => about.has(key))),
  } as FoundDescription;
}
