/**
 * Facts about a machine of Azure: one document of the metadata server.
 *
 * Permissions: net (the metadata server).
 *
 * @module
 */
import * as z from "zod";
import { type CloudFacts, givenTexts, type MetadataPage } from "./metadata_server.ts";

/** A version available in every region. */
const VERSION = "2019-08-15";

const text = z.string({ error: "a text" }).optional();
const instance = z.looseObject({
  compute: z.looseObject({
    ...{ name: text, location: text, zone: text, vmId: text, tags: text },
    tagsList: z.array(z.looseObject({ name: z.string(), value: z.string() })).optional(),
  }).optional(),
});

/**
 * Asks the metadata server.
 *
 * @throws Error when the server does not answer, or gives another answer
 */
export async function azureFacts(page: MetadataPage): Promise<CloudFacts> {
  const document = await page(`/metadata/instance?api-version=${VERSION}`, { headers: { metadata: "True" } });
  const { compute = {} } = instance.parse(JSON.parse(document));
  const tags = compute.tagsList ?? tagsOf(compute.tags ?? "");
  return {
    metadata: {
      ...Object.fromEntries(tags.map(({ name, value }) => [`azure_${name}`, value])),
      ...givenTexts({ azure_name: compute.name, azure_location: compute.location, azure_vmId: compute.vmId }),
    },
    locality: givenTexts({ region: compute.location, zone: compute.zone }),
  };
}

/** Parses `name:value;name:value`, the form of tags in documents without a list. */
function tagsOf(texts: string): { readonly name: string; readonly value: string }[] {
  return texts.split(";").filter((tag) => tag !== "").map((tag) => {
    const [name = "", ...value] = tag.split(":");
    return { name, value: value.join(":") };
  });
}
