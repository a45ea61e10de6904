/**
 * The facts of Amazon Web Services about a machine: the identity document of its metadata server.
 *
 * Permissions: net (the metadata server).
 *
 * @module
 */
import * as z from "zod";
import { type CloudFacts, givenTexts, type MetadataPage } from "./metadata_server.ts";

/** Lifetime of the requested token, seconds: long enough for the pages of one start. */
const TOKEN_SECONDS = "60";

const text = z.string({ error: "a text" }).optional();
const identity = z.looseObject({ accountId: text, availabilityZone: text, instanceId: text, region: text });

/**
 * Asks the metadata server with a token (version 2), or without a token where the server gives none.
 *
 * @throws Error when the server does not answer, or gives another answer
 */
export async function amazonFacts(page: MetadataPage): Promise<CloudFacts> {
  const token = await page("/latest/api/token", {
    method: "PUT",
    headers: { "x-aws-ec2-metadata-token-ttl-seconds": TOKEN_SECONDS },
  }).catch(() => undefined);
  const headers = token === undefined ? {} : { "x-aws-ec2-metadata-token": token };
  const found = identity.parse(JSON.parse(await page("/latest/dynamic/instance-identity/document", { headers })));
  return {
    metadata: givenTexts({
      aws_account_id: found.accountId,
      aws_availability_zone: found.availabilityZone,
      aws_instance_id: found.instanceId,
      aws_region: found.region,
    }),
    locality: givenTexts({ region: found.region, zone: found.availabilityZone }),
  };
}
