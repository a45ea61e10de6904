/** Routing by the tool `ip`: our routing and the routing of others, and tools with fewer abilities. */
import assert from "node:assert/strict";
import { ApplyError } from "../../lib/iptables/outcome.ts";
import { addRoutes, removeFormerRoutes } from "../../lib/iptables/route.ts";
import { formerMarks, noRouting, type Routing } from "../../lib/iptables/routing.ts";
import type { Run } from "../../lib/iptables/run.ts";

const wanted: Routing = { family: 4, marked: { mark: 1337, table: 133 }, address: undefined };
const quiet = { info() {}, warn() {} };

/** An `ip` with rules, routes of a table, and refused commands. */
function tool(refuses: RegExp, rules = "", routes = ""): { run: Run; done: string[] } {
  const done: string[] = [];
  return {
    done,
    run: (command, args, input = "") => {
      const line = args.join(" ");
      assert.equal(command, "ip");
      const asked = line.includes("-batch") ? input.trim().split("\n").map((one) => `${args[0]} ${one}`) : [line];
      for (const one of [line, ...asked]) {
        if (refuses.test(one)) return Promise.resolve({ code: 255, stdout: "", stderr: `no ${one}` });
        if (one.includes("-batch")) continue;
        if (one.includes(" show")) {
          return Promise.resolve({ code: 0, stdout: / rule /.test(one) ? rules : routes, stderr: "" });
        }
        if (!done.includes(one)) done.push(one);
      }
      return Promise.resolve({ code: 0, stdout: "", stderr: "" });
    },
  };
}

Deno.test("rules and routes say that we made them", async () => {
  const { run, done } = tool(/^$/);
  await addRoutes(wanted, run, quiet);
  assert.deepEqual(done, [
    "-4 rule add fwmark 1337 lookup 133 protocol 137",
    "-4 route add local 0.0.0.0/0 dev lo table 133 protocol 137",
  ]);
});

Deno.test("a tool that cannot keep the origin of a rule, nor print numbers alone, does without", async () => {
  const { run, done } = tool(/protocol|-N/);
  await addRoutes(wanted, run, quiet);
  assert.deepEqual(done, ["-4 rule add fwmark 1337 lookup 133", "-4 route add local 0.0.0.0/0 dev lo table 133"]);
});

Deno.test("a tool that takes one command at a time is given one at a time", async () => {
  const { run, done } = tool(/-batch/);
  await addRoutes(wanted, run, quiet);
  assert.equal(done.length, 2);
});

Deno.test("a rule that cannot be added is an error with the tool's message", async () => {
  const { run } = tool(/rule add/);
  await assert.rejects(addRoutes(wanted, run, quiet), (error: Error) => {
    assert.ok(error instanceof ApplyError);
    assert.match(error.message, /^ip -4 rule add fwmark 1337 lookup 133 protocol 137: no -4 rule add/);
    return true;
  });
});

const rules = [
  "0:\tfrom all lookup local",
  "100:\tfrom all fwmark 0x10 lookup 10 proto 137",
  "101:\tfrom all fwmark 0x11 lookup 11",
  "102:\tfrom all fwmark 0x12 lookup 12 proto 186",
  "103:\tfrom all fwmark 0x13/0xff lookup 13 proto 137",
  "104:\tfrom 10.0.0.1 fwmark 0x14 lookup 14 proto 137",
  "105:\tfrom all fwmark 0x539 lookup 133 proto 137",
].join("\n");

Deno.test("ours are rules that say so, or that have a mark of our chains; the wanted one stays", () => {
  const tables = (marks: number[], routing: Routing) => formerMarks(marks, routing, rules).map(({ table }) => table);
  assert.deepEqual(tables([], wanted), [10, 13]);
  assert.deepEqual(tables([0x11], wanted), [10, 11, 13]);
  assert.deepEqual(tables([], noRouting(4)), [10, 13, 133]);
});

Deno.test("a rule that does not say that it is ours stays when its table does not deliver here", async () => {
  const one = "101:\tfrom all fwmark 0x11 lookup 11";
  const others = tool(/^$/, one, "unreachable default");
  await removeFormerRoutes([0x11], noRouting(4), others.run, quiet);
  assert.deepEqual(others.done, []);
  const ours = tool(/^$/, one, "local default dev lo scope host");
  await removeFormerRoutes([0x11], noRouting(4), ours.run, quiet);
  assert.deepEqual(ours.done, ["-4 route del local 0.0.0.0/0 dev lo table 11", "-4 rule del fwmark 17 lookup 11"]);
});
