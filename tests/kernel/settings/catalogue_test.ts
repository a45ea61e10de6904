import assert from "node:assert/strict";
import { catalogue, defaultOf, settingEntries } from "../../../lib/kernel/settings/catalogue.ts";
import { ownSettings } from "../../../lib/kernel/settings/own.ts";
import { parseSetting } from "../../../lib/kernel/settings/parse.ts";
import type { Setting } from "../../../lib/kernel/settings/define.ts";
import { notBuiltNames } from "../../../lib/kernel/not_built/catalogue.ts";
import { NEEDLESS_SETTINGS } from "../../../lib/kernel/not_built/needless.ts";
import { formatDuration } from "../../../lib/kernel/time/duration.ts";
import { readSettingNames } from "../../surface/source_scan.ts";
import { copiedSurface, copyText, specSurface } from "../../surface/spec_tables.ts";

const copy = copiedSurface();

/** A default in the form of the tables. */
function shownDefault(setting: Setting): string {
  const text = (value: Setting["default"]) =>
    setting.type === "Duration" ? formatDuration(Number(value)) : String(value);
  if (setting.per === undefined) return Object.values(setting.shown ?? {})[0] ?? text(setting.default);
  const letters = [...setting.users] as ("D" | "A" | "C")[];
  return letters.map((letter) => {
    const value = setting.shown?.[letter] ?? text(setting.per?.[letter] ?? setting.default);
    return `${letter}: ${value === "" ? "(empty)" : value}`;
  }).join("; ");
}

/** Variables used by more programs than in the tables, and why. */
const widened: Readonly<Record<string, { readonly tables: string; readonly why: string }>> = {
  ORCH_SERVICE_HOST: { tables: "DA", why: "the installer writes it into the plugin's orchestrator config" },
};

Deno.test("the catalogue has every variable of the tables with its type, default and programs", () => {
  const ours = copy.settings.map(({ name }) => {
    const setting: Setting | undefined = (catalogue as Record<string, Setting>)[name];
    if (setting === undefined) return { name, missing: true };
    const users = widened[name]?.tables ?? setting.users;
    return { name, type: setting.type, default: shownDefault(setting), users };
  });
  assert.deepEqual(ours, copy.settings);
});

Deno.test("variables beyond the tables are on the list of our own variables, and only there", () => {
  const known = new Set(copy.settings.map((row) => row.name));
  const beyond = settingEntries().map(([name]) => name).filter((name) => !known.has(name));
  assert.deepEqual(beyond, Object.keys(ownSettings));
  assert.equal(settingEntries().length, copy.settings.length + beyond.length);
});

const surface = specSurface();
// The documents are not part of the tree: without them there is nothing to compare the copy with.
if (surface !== undefined) {
  Deno.test("the checked-in copy of the tables is what the documents say", () => {
    assert.equal(copyText(copy), copyText(surface));
  });
}

Deno.test("every default passes its own check, for every program", () => {
  for (const [name, setting] of settingEntries()) {
    for (const program of ["pilot-discovery", "pilot-agent", "install-cni"] as const) {
      const value = defaultOf(setting, program);
      const text = setting.type === "Duration" ? formatDuration(Number(value)) : String(value);
      assert.deepEqual(parseSetting(setting, text), { value }, name);
    }
  }
});

Deno.test("every setting has help in a whole sentence", () => {
  const helps = settingEntries().map(([, s]) => s.help);
  assert.deepEqual(helps.filter((h) => h.length < 15 || !/[.)]$/.test(h)), []);
});

const read = readSettingNames();
const unread = [...notBuiltNames("setting"), ...Object.keys(NEEDLESS_SETTINGS)];

Deno.test("every setting that is not on the list of unread settings is read in lib or cmd", () => {
  const listed = new Set(unread);
  assert.deepEqual(settingEntries().map(([n]) => n).filter((n) => !listed.has(n) && !read.has(n)), []);
});

Deno.test("no setting on the list of unread settings is read, and no setting is listed twice", () => {
  assert.deepEqual(
    unread.filter((name) => read.has(name)),
    [],
    "run deno task shrink-lists, then deno task reference",
  );
  assert.equal(new Set(unread).size, unread.length);
  assert.deepEqual(Object.values(NEEDLESS_SETTINGS).filter((reason) => reason.length < 15), [], "a reason each");
});
