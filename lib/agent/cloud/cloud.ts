/**
 * Finds the cloud in which a workload runs, and the cloud's facts about the machine.
 *
 * Where no variable names a cloud, the machine's firmware does: outside of a cloud nobody is asked, and the start waits
 * for nothing.
 *
 * Permissions: read (`/sys/class/dmi/id`, `/sys/hypervisor`), net (metadata servers).
 *
 * @module
 */
import { readRegularText } from "../../kernel/files/regular.ts";
import type { Settings } from "../../kernel/settings/catalogue.ts";
import { givenGoogleFacts, googleFacts, googleMetadataOf } from "./google.ts";
import { amazonLocality, googleLocality } from "./localities.ts";
import { type CloudFacts, metadataPages } from "./metadata_server.ts";

/** Settings about the cloud. */
export type CloudSettings = Pick<
  Settings,
  | "CLOUD_PLATFORM"
  | "CLOUD_METADATA"
  | "CLOUD_QUOTA_PROJECT"
  | "CLOUD_ZONE"
  | "GCE_METADATA_HOST"
  | "AWS_EC2_METADATA_SERVICE_ENDPOINT"
>;

/** A cloud, by the name in `CLOUD_PLATFORM`. */
export type CloudName = "aws" | "azure" | "gcp";

/** Files of a machine's firmware with the name of the maker: texts by file name. */
export type Firmware = Readonly<Record<(typeof FIRMWARE_FILES)[number], string>>;

/** The cloud of a workload, with the cloud's facts. */
export interface Cloud extends CloudFacts {
  /** undefined: in none. */
  readonly name: CloudName | undefined;
  /** Warnings for the log, a sentence each. */
  readonly warnings: readonly string[];
}

/** Inputs to the search for the cloud. */
export interface CloudInput {
  readonly settings: CloudSettings;
  readonly firmware: Firmware;
  /** Whether the workload has only addresses of IPv6. */
  readonly ipv6: boolean;
  /** Address of Azure's metadata server. Default: Azure's fixed address. */
  readonly azure?: string;
  /** Time for all requests to a metadata server, ms. Default: a second. */
  readonly deadline?: number;
}

/** Time for all requests to a metadata server at a start, ms. The server is one hop away. */
const DEADLINE = 1000;

const LINK_LOCAL = "http://169.254.169.254";
const AMAZON_IPV6 = "http://[fd00:ec2::254]";

/** Finds the cloud. Never fails: a workload runs without the facts of a cloud. */
export async function findCloud(input: CloudInput): Promise<Cloud> {
  const { settings } = input;
  const byHand = settings.CLOUD_METADATA === "" ? undefined : googleMetadataOf(settings.CLOUD_METADATA);
  const warnings = settings.CLOUD_METADATA !== "" && byHand === undefined
    ? [
      `variable CLOUD_METADATA: got ${JSON.stringify(settings.CLOUD_METADATA)}, expected ` +
      "project_id|project_number|cluster_name|cluster_zone; it has no effect",
    ]
    : [];
  const name = nameOf(input, byHand !== undefined);
  const facts = await factsOf(name, input, byHand).catch((error: Error) => {
    warnings.push(`the cloud ${name} says nothing of this machine: ${error.message}`);
    return { metadata: {}, locality: {} };
  });
  const locality = settings.CLOUD_ZONE === "" ? facts.locality : zoneByHand(settings.CLOUD_ZONE, name, facts);
  return { name, metadata: facts.metadata, locality, warnings };
}

function nameOf({ settings, firmware }: CloudInput, isGoogleByHand: boolean): CloudName | undefined {
  if (settings.CLOUD_PLATFORM === "none") return undefined;
  if (settings.CLOUD_PLATFORM !== "") return settings.CLOUD_PLATFORM as CloudName;
  if (isGoogleByHand || settings.GCE_METADATA_HOST !== "") return "gcp";
  return cloudOfFirmware(firmware);
}

async function factsOf(
  name: CloudName | undefined,
  { settings, ipv6, azure, deadline = DEADLINE }: CloudInput,
  byHand: Readonly<Record<string, string>> | undefined,
): Promise<CloudFacts> {
  const pages = (address: string) => metadataPages(address, deadline, AbortSignal.timeout(deadline));
  switch (name) {
    case "gcp": {
      if (byHand !== undefined) return givenGoogleFacts(byHand, settings.CLOUD_QUOTA_PROJECT);
      const facts = await googleFacts(pages(googleServer(settings)), settings.CLOUD_QUOTA_PROJECT);
      if (Object.keys(facts.metadata).length === 0) throw new Error(`no answer from ${googleServer(settings)}`);
      return facts;
    }
    // The modules that read JSON are loaded only in these clouds: agents are many, and most run in no cloud.
    case "aws": {
      const { amazonFacts } = await import("./amazon.ts");
      return await amazonFacts(
        pages(settings.AWS_EC2_METADATA_SERVICE_ENDPOINT || (ipv6 ? AMAZON_IPV6 : LINK_LOCAL)),
      );
    }
    case "azure": {
      const { azureFacts } = await import("./azure.ts");
      return await azureFacts(pages(azure ?? LINK_LOCAL));
    }
    case undefined:
      return { metadata: {}, locality: {} };
  }
}

/** Address of Google's metadata server. */
export function googleServer({ GCE_METADATA_HOST }: Pick<Settings, "GCE_METADATA_HOST">): string {
  return GCE_METADATA_HOST === "" ? LINK_LOCAL : `http://${GCE_METADATA_HOST}`;
}

function zoneByHand(zone: string, name: CloudName | undefined, { locality }: CloudFacts): CloudFacts["locality"] {
  if (name === "aws") return amazonLocality(zone);
  // Zones of Azure are numbers in a region.
  if (name === "azure") return { ...locality, zone };
  return googleLocality(zone);
}

/** Firmware files with the maker of a machine. */
export const FIRMWARE_FILES = [
  "/sys/class/dmi/id/sys_vendor",
  "/sys/class/dmi/id/product_name",
  "/sys/class/dmi/id/product_version",
  "/sys/class/dmi/id/chassis_asset_tag",
  "/sys/class/dmi/id/product_uuid",
  "/sys/hypervisor/uuid",
] as const;

/** Reads the firmware files. An unreadable file counts as empty. */
export async function readFirmware(): Promise<Firmware> {
  const texts = await Promise.all(
    FIRMWARE_FILES.map(async (file) => [file, await readRegularText(file).catch(() => "")]),
  );
  return Object.fromEntries(texts) as Firmware;
}

/** Tag of all machines of Azure. The maker's name is not enough: every machine of Hyper-V has the same name. */
const AZURE = "7783-7084-3265-9085-8269-3286-77";

/** The cloud of a machine with this firmware. */
export function cloudOfFirmware(firmware: Firmware): CloudName | undefined {
  const [vendor, product, version, tag, ...uuids] = FIRMWARE_FILES.map((file) => firmware[file].trim().toLowerCase());
  if (product === "google" || product === "google compute engine") return "gcp";
  if (vendor === "amazon ec2" || version!.includes("amazon") || uuids.some((uuid) => uuid.startsWith("ec2"))) {
    return "aws";
  }
  return tag === AZURE ? "azure" : undefined;
}
