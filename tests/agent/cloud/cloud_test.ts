import assert from "node:assert/strict";
import {
  type CloudInput,
  cloudOfFirmware,
  type CloudSettings,
  findCloud,
  type Firmware,
  FIRMWARE_FILES,
} from "../../../lib/agent/cloud/cloud.ts";
import { amazonLocality, googleLocality } from "../../../lib/agent/cloud/localities.ts";
import { defaultSettings } from "../../../lib/kernel/settings/read.ts";
import { PATIENCE } from "../../patience.ts";
import { CloudServer, googlePages } from "../support/cloud_server.ts";

/** Firmware of a machine. Files that are not given are empty. */
function firmware(said: Partial<Firmware> = {}): Firmware {
  return { ...Object.fromEntries(FIRMWARE_FILES.map((file) => [file, ""])), ...said } as Firmware;
}

const GOOGLE = firmware({ "/sys/class/dmi/id/product_name": "Google Compute Engine\n" });

/** @param input Default: a server may take its time. */
function find(settings: Partial<CloudSettings>, input: Partial<CloudInput> = { deadline: PATIENCE }) {
  const all = defaultSettings("pilot-agent", settings);
  return findCloud({ settings: all, firmware: firmware(), ipv6: false, ...input });
}

const machine = {
  "project/project-id": "shop",
  "project/numeric-project-id": "123",
  "instance/zone": "projects/123/zones/europe-west1-b",
  "instance/name": "vm-1",
  "instance/id": "42",
};

Deno.test("outside of a cloud no server is asked, and nothing is logged", async () => {
  assert.deepEqual(await find({}), { name: undefined, metadata: {}, locality: {}, warnings: [] });
  assert.deepEqual(await find({ CLOUD_PLATFORM: "none" }, { firmware: GOOGLE }), {
    ...{ name: undefined, metadata: {}, locality: {}, warnings: [] },
  });
});

Deno.test("Google's metadata server places a machine in its zone and names project, instance and cluster", async () => {
  await using server = new CloudServer(googlePages(machine));
  const found = await find({ GCE_METADATA_HOST: server.host, CLOUD_QUOTA_PROJECT: "billing" });
  assert.deepEqual(found, {
    name: "gcp",
    locality: { region: "europe-west1", zone: "europe-west1-b" },
    metadata: {
      gcp_project: "shop",
      gcp_project_number: "123",
      gcp_location: "europe-west1-b",
      gcp_gce_instance: "vm-1",
      gcp_gce_instance_id: "42",
      gcp_quota_project: "billing",
    },
    warnings: [],
  });
});

Deno.test("a node of a regional cluster is placed by its own zone, not by the cluster's region", async () => {
  const cluster = { "instance/attributes/cluster-name": "c1", "instance/attributes/cluster-location": "europe-west1" };
  await using server = new CloudServer(googlePages({ ...machine, ...cluster }));
  const { locality, metadata } = await find({ CLOUD_PLATFORM: "gcp", GCE_METADATA_HOST: server.host });
  assert.deepEqual(locality, { region: "europe-west1", zone: "europe-west1-b" });
  assert.equal(metadata.gcp_location, "europe-west1");
  assert.equal(
    metadata.gcp_gke_cluster_url,
    "https://container.googleapis.com/v1/projects/shop/locations/europe-west1/clusters/c1",
  );
});

Deno.test("CLOUD_METADATA gives all facts, and no server is asked", async () => {
  await using server = new CloudServer(() => undefined);
  const found = await find({
    CLOUD_METADATA: "shop|123|c1|us-central1-a",
    CLOUD_QUOTA_PROJECT: "billing",
    GCE_METADATA_HOST: server.host,
  });
  assert.deepEqual(server.requests, []);
  assert.deepEqual(found.locality, { region: "us-central1", zone: "us-central1-a" });
  assert.deepEqual(found.metadata, {
    gcp_project: "shop",
    gcp_project_number: "123",
    gcp_gke_cluster_name: "c1",
    gcp_location: "us-central1-a",
    gcp_gke_cluster_url: "https://container.googleapis.com/v1/projects/shop/locations/us-central1-a/clusters/c1",
    gcp_quota_project: "billing",
  });
  const wrong = await find({ CLOUD_METADATA: "shop|123" });
  assert.match(wrong.warnings.join(), /CLOUD_METADATA: got "shop\|123", expected project_id\|/);
  assert.equal(wrong.name, undefined);
});

Deno.test("CLOUD_ZONE places a machine, whichever zone its cloud names", async () => {
  assert.deepEqual((await find({ CLOUD_ZONE: "us-central1-f" })).locality, {
    ...{ region: "us-central1", zone: "us-central1-f" },
  });
  const byHand = { CLOUD_METADATA: "shop|123|c1|us-central1-a", CLOUD_ZONE: "us-east1-b" };
  assert.deepEqual((await find(byHand)).locality, { region: "us-east1", zone: "us-east1-b" });
  assert.deepEqual(googleLocality("us-central1"), { region: "us-central1" });
  assert.deepEqual(amazonLocality("us-east-1a"), { region: "us-east-1", zone: "us-east-1a" });
});

const identity = {
  accountId: "1",
  availabilityZone: "us-east-1a",
  instanceId: "i-1",
  region: "us-east-1",
  version: "x",
};

Deno.test("Amazon's identity document is read with a token, or without a token if the server gives none", async () => {
  const expected = {
    ...{ aws_account_id: "1", aws_availability_zone: "us-east-1a", aws_instance_id: "i-1", aws_region: "us-east-1" },
  };
  for (const version of [1, 2]) {
    await using server = new CloudServer(({ line, headers }) => {
      if (line === "PUT /latest/api/token") return version === 1 ? undefined : new Response("secret");
      if (version === 2 && headers.get("x-aws-ec2-metadata-token") !== "secret") {
        return new Response("", { status: 401 });
      }
      return line === "GET /latest/dynamic/instance-identity/document" ? Response.json(identity) : undefined;
    });
    const address = `http://${server.host}`;
    const found = await find({ CLOUD_PLATFORM: "aws", AWS_EC2_METADATA_SERVICE_ENDPOINT: address });
    assert.deepEqual(found.metadata, expected, `version ${version}`);
    assert.deepEqual(found.locality, { region: "us-east-1", zone: "us-east-1a" });
  }
});

Deno.test("Azure's document places a machine, and its tags become metadata, as a list or as one text", async () => {
  const compute = { name: "vm-1", location: "westeurope", zone: "2", vmId: "id" };
  const expected = {
    azure_team: "shop",
    azure_url: "a:b",
    azure_name: "vm-1",
    azure_location: "westeurope",
    azure_vmId: "id",
  };
  const list = [{ name: "team", value: "shop" }, { name: "url", value: "a:b" }];
  for (const tags of [{ tagsList: list, tags: "other:x" }, { tags: "team:shop;url:a:b" }]) {
    await using server = new CloudServer(({ line, headers }) =>
      line.startsWith("GET /metadata/instance?api-version=") && headers.get("metadata") === "True"
        ? Response.json({ compute: { ...compute, ...tags } })
        : undefined
    );
    const found = await find({ CLOUD_PLATFORM: "azure" }, { azure: `http://${server.host}`, deadline: PATIENCE });
    assert.deepEqual(found.metadata, expected);
    assert.deepEqual(found.locality, { region: "westeurope", zone: "2" });
  }
});

Deno.test("a metadata server that is silent, gone, or talks nonsense costs a second at most and a warning", async () => {
  const answers: (Response | "silence")[] = ["silence", new Response("x".repeat(70_000)), new Response('{"region":5}')];
  for (const answer of answers) {
    await using server = new CloudServer(() => answer === "silence" ? answer : answer.clone());
    const address = `http://${server.host}`;
    const found = await find({ CLOUD_PLATFORM: "aws", AWS_EC2_METADATA_SERVICE_ENDPOINT: address }, {});
    assert.deepEqual([found.name, found.metadata, found.locality], ["aws", {}, {}]);
    assert.equal(found.warnings.length, 1);
  }
  const gone = await find({ GCE_METADATA_HOST: "127.0.0.1:1" }, {});
  assert.match(gone.warnings.join(), /the cloud gcp says nothing of this machine: no answer from http:\/\/127/);
});

Deno.test("firmware names the cloud; firmware of other machines names no cloud", () => {
  const cases: [Partial<Firmware>, string | undefined][] = [
    [{ "/sys/class/dmi/id/product_name": "Google\n" }, "gcp"],
    [{ "/sys/class/dmi/id/sys_vendor": "Amazon EC2\n" }, "aws"],
    [{ "/sys/class/dmi/id/product_version": "4.11.amazon\n" }, "aws"],
    [{ "/sys/hypervisor/uuid": "ec2e1916-9099-7caf-fd21-012345abcdef\n" }, "aws"],
    [{ "/sys/class/dmi/id/chassis_asset_tag": "7783-7084-3265-9085-8269-3286-77\n" }, "azure"],
    [{ "/sys/class/dmi/id/sys_vendor": "Microsoft Corporation\n" }, undefined],
    [{ "/sys/class/dmi/id/sys_vendor": "QEMU\n" }, undefined],
    [{}, undefined],
  ];
  for (const [said, name] of cases) assert.equal(cloudOfFirmware(firmware(said)), name, JSON.stringify(said));
});
