import assert from "node:assert/strict";
import { consoleLine, jsonLine, type Line, timeText } from "../../../lib/kernel/log/format.ts";
import { LogOptionError, parseScopeLevels, parseScopes } from "../../../lib/kernel/log/level.ts";
import { createLog, defaultLogOptions, type LogOptions } from "../../../lib/kernel/log/log.ts";
import { scopes } from "../../../lib/kernel/log/scopes.ts";
import { fileTarget, streamTarget, type Target } from "../../../lib/kernel/log/target.ts";
import { createFakeClock } from "../../../lib/kernel/time/fake_clock.ts";
import { copiedSurface } from "../../surface/spec_tables.ts";

function recorder(options: Partial<LogOptions> = {}, names: readonly string[] = ["ads", "default", "model"]) {
  const lines: string[] = [];
  const target: Target = { write: (bytes) => lines.push(new TextDecoder().decode(bytes)), close() {} };
  const log = createLog(names, { ...defaultLogOptions, ...options }, { clock: createFakeClock(), open: () => target });
  return { log, lines };
}

Deno.test("the scopes of every program equal the scopes of the reference", () => {
  assert.deepEqual(scopes, copiedSurface().scopes);
});

Deno.test("a console line is time, level, scope, message, key=value, tab separated", () => {
  const { log, lines } = recorder();
  log.scope("ads").info("push", { type: "cds", proxies: 3, reason: "two words" });
  assert.deepEqual(lines, [
    '2026-01-01T00:00:00.000000Z\tinfo\tads\tpush\ttype=cds\tproxies=3\treason="two words"\n',
  ]);
});

Deno.test("a field without a value is left out, on the console and in JSON", () => {
  const fields = { line: 14, within: undefined };
  const line: Line = {
    ...{ time: 0, level: "info", scope: "validation", message: "refused", fields },
    ...{ caller: undefined, stack: undefined },
  };
  assert.match(consoleLine(line), /\tline=14\n$/);
  assert.ok(!("within" in JSON.parse(jsonLine(line))));
});

Deno.test("levels are in colour on a terminal, and nowhere else", () => {
  const lines: Record<string, string[]> = { terminal: [], file: [] };
  const open = (name: string): Target => ({
    colour: name === "terminal",
    write: (bytes) => void lines[name]?.push(new TextDecoder().decode(bytes)),
    close() {},
  });
  for (const json of [false, true]) {
    const log = createLog(["ads"], { ...defaultLogOptions, json, targets: ["terminal", "file"] }, { open });
    log.scope("ads").warn("careful");
  }
  const [text = "", json = ""] = lines["terminal"] ?? [];
  assert.ok(text.includes("\t\x1b[33mwarn\x1b[0m\tads\tcareful"), text);
  assert.equal(text.replaceAll("\x1b[33m", "").replaceAll("\x1b[0m", "").slice(27), lines["file"]?.[0]?.slice(27));
  assert.equal(JSON.parse(json).level, "warn");
  const stream = (isTerminal: boolean) => ({
    writeSync: (bytes: Uint8Array) => bytes.length,
    isTerminal: () => isTerminal,
  });
  assert.deepEqual([true, false].map((on) => streamTarget(stream(on)).colour), [!Deno.noColor, false]);
});

Deno.test("a time has microseconds", () => {
  assert.equal(timeText(Date.UTC(2026, 0, 2, 3, 4, 5, 678) + 0.901), "2026-01-02T03:04:05.678901Z");
});

Deno.test("a JSON line has time, level, scope, msg and the fields, and a field never hides a key", () => {
  const { log, lines } = recorder({ json: true });
  log.scope("ads").warn("slow", { ms: 12, msg: "x", stack: "y", error: new Error("bad"), big: 3n });
  assert.deepEqual(JSON.parse(lines[0] ?? ""), {
    time: "2026-01-01T00:00:00.000000Z",
    level: "warn",
    scope: "ads",
    msg: "slow",
    ms: 12,
    "field.msg": "x",
    "field.stack": "y",
    error: "bad",
    big: "3",
  });
});

Deno.test("a message cannot forge a second line", () => {
  const line: Line = {
    time: 0,
    level: "info",
    scope: "ads",
    message: "a\n2026\tfatal",
    fields: { k: "v\nw" },
    caller: undefined,
    stack: undefined,
  };
  assert.equal(consoleLine(line).split("\n").length, 2);
  assert.equal(jsonLine(line).split("\n").length, 2);
});

Deno.test("a value that cannot be written as JSON does not end the program", () => {
  const circle: Record<string, unknown> = {};
  circle["self"] = circle;
  const { log, lines } = recorder();
  log.scope("ads").info("x", { circle });
  assert.match(lines[0] ?? "", /circle="\[cannot be written/);
});

Deno.test("levels are per scope, `all` means every scope, and levels can change at run time", () => {
  const { log, lines } = recorder({ levels: new Map([["all", "warn"], ["ads", "debug"]]) });
  const ads = log.scope("ads");
  const model = log.scope("model").with({ a: 1 });
  ads.debug("1");
  model.info("no");
  assert.equal(log.set("model", "info"), true);
  model.info("2");
  assert.equal(log.set("all", "none"), true);
  ads.fatal("no");
  assert.equal(log.set("nonsense", "debug"), false);
  assert.deepEqual(lines.map((l) => l.split("\t")[3]?.trim()), ["1", "2"]);
  assert.deepEqual(log.states().map((s) => [s.name, s.level]), [["ads", "none"], ["default", "none"], [
    "model",
    "none",
  ]]);
});

Deno.test("a message that is not written is not made", () => {
  const { log, lines } = recorder();
  log.scope("ads").debug(() => assert.fail("made"));
  log.scope("ads").info(() => "made");
  assert.equal(lines.length, 1);
  assert.equal(log.scope("ads").enabled("debug"), false);
});

Deno.test("callers and stacks are written where asked", () => {
  const { log, lines } = recorder({
    json: true,
    callers: new Set(["ads"]),
    stackLevels: new Map([["default", "error"]]),
  });
  log.scope("ads").info("x");
  log.scope("default").error("y");
  log.scope("default").warn("z");
  const [first, second, third] = lines.map((l) => JSON.parse(l));
  assert.match(first.caller, /^log_test\.ts:\d+$/);
  assert.match(second.stack.split("\n")[0], /log_test\.ts/);
  assert.equal(second.caller, undefined);
  assert.equal(third.stack, undefined);
});

Deno.test("level texts: pairs, a level alone, and clear errors", () => {
  const known = scopes["pilot-agent"];
  assert.deepEqual([...parseScopeLevels("f", "dns:debug, sds:none,warn", known)], [["dns", "debug"], ["sds", "none"], [
    "default",
    "warn",
  ]]);
  assert.deepEqual([...parseScopes("f", "dns,all", known)], ["dns", "all"]);
  assert.throws(
    () => parseScopeLevels("log_output_level", "nope:debug", known),
    (e: unknown) =>
      e instanceof LogOptionError && /--log_output_level: got scope "nope", expected one of ads, all/.test(e.message),
  );
  assert.throws(() => parseScopeLevels("f", "dns:loud", known), /got level "loud", expected one of debug, info/);
  assert.throws(() => parseScopes("f", "nope", known), LogOptionError);
});

Deno.test("a file is rotated by size, the set number of old files is kept, and a restart appends to the file", () => {
  const folder = Deno.makeTempDirSync();
  const path = `${folder}/a.log`;
  const bytes = (text: string) => new TextEncoder().encode(text);
  const first = fileTarget(path, { bytes: 10, files: 2 });
  for (const word of ["111111\n", "222222\n", "333333\n"]) first.write(bytes(word));
  first.close();
  const second = fileTarget(path, { bytes: 10, files: 2 });
  second.write(bytes("4\n"));
  second.write(bytes("555555\n"));
  second.close();
  const read = (name: string) => Deno.readTextFileSync(`${folder}/${name}`);
  assert.deepEqual([read("a.log"), read("a.log.1"), read("a.log.2")], ["555555\n", "333333\n4\n", "222222\n"]);
  assert.deepEqual([...Deno.readDirSync(folder)].length, 3);
  Deno.removeSync(folder, { recursive: true });
});

Deno.test("a target that cannot be opened is refused at start, by name", () => {
  const options = { ...defaultLogOptions, targets: ["/nonexistent/folder/x.log"] };
  assert.throws(
    () => createLog([], options),
    (e: unknown) =>
      e instanceof LogOptionError &&
      /--log_target: got "\/nonexistent\/folder\/x.log", expected a file/.test(e.message),
  );
});
