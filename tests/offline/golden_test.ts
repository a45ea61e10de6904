/**
 * The output of `check` for configuration known from mistakes in the field: one folder each, with the findings as a
 * golden.
 */
import { formatFinding } from "../../lib/finding/finding.ts";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { checkMesh } from "../../lib/offline/check/check.ts";
import { testGoldens } from "../golden.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import { meshOfReads } from "../../lib/offline/mesh_of_reads.ts";
import { readsOf } from "./mesh_of.ts";

const root = new URL("../testdata/corpus/", import.meta.url);

/** The texts of a folder, by name. */
function textsOf(folder: string): Record<string, string> {
  const place = new URL(`input/${folder}/`, root);
  const names = [...Deno.readDirSync(place)].map(({ name }) => name).sort();
  return Object.fromEntries(names.map((name) => [name, Deno.readTextFileSync(new URL(name, place))]));
}

function checked(folder: string): string {
  const files = textsOf(folder);
  const reads = readsOf(files);
  const settings = defaultSettings("pilot-discovery");
  const mesh = meshOfReads(reads, undefined, { settings, domain: "cluster.local", manifestServices: true });
  mesh.apply(reads);
  const { findings, passedOverKinds } = unpaced(checkMesh(mesh, {
    ...{ assumeServices: false, textOf: (file) => files[file] },
    // Certificates begin and end: on this day the certificates of the inputs are valid.
    now: () => Date.UTC(2026, 10, 30),
  }));
  const said = findings.length === 0
    ? "nothing\n"
    : findings.map((one) => `${one.code} ${formatFinding(one)}\n`).join("");
  const kinds = Object.entries(passedOverKinds).map(([kind, count]) => `passed over: ${count} ${kind}\n`);
  const config = mesh.meshConfigName === undefined ? "" : `mesh configuration of ${mesh.meshConfigName}\n`;
  return said + kinds.join("") + config;
}

const folders = [...Deno.readDirSync(new URL("input/", root))].map(({ name }) => name).sort();

testGoldens({
  folder: new URL("expected/", root),
  suffix: ".txt",
  cases: new Map(folders.map((name) => [name, () => checked(name)])),
});
