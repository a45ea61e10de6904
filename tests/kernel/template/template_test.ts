import assert from "node:assert/strict";
import fc from "fast-check";
import { TextTemplateError } from "../../../lib/kernel/template/syntax.ts";
import { renderTemplate } from "../../../lib/kernel/template/render.ts";
import { runs } from "../../properties.ts";

const value = {
  name: "cart",
  empty: "",
  zero: 0,
  ports: [80, 443],
  labels: { tier: "front", app: "cart" },
  nested: { deep: { list: [{ name: "a" }, { name: "b" }] } },
  yes: true,
};

const render = (text: string) => renderTemplate(text, "x.tmpl", value);

const table: readonly (readonly [string, string])[] = [
  ["plain } { text", "plain } { text"],
  ["{{ .name }}-{{.nested.deep.list}}", "cart-[map[name:a] map[name:b]]"],
  ["a {{- .name -}} \n b", "acartb"],
  ["a {{/* a }} comment */}}b{{- /* another */ -}} c", "a bc"],
  ["{{ if .yes }}y{{ else }}n{{ end }}{{ if .missing }}y{{ else }}n{{ end }}", "yn"],
  ['{{ if eq .name "x" "cart" }}1{{ else if .yes }}2{{ end }}', "1"],
  ["{{ if .zero }}1{{ else if .empty }}2{{ else if .yes }}3{{ else }}4{{ end }}", "3"],
  ["{{ range .ports }}[{{ . }}]{{ end }}", "[80][443]"],
  ["{{ range $i, $p := .ports }}{{ if $i }},{{ end }}{{ $p }}/{{ $.name }}{{ end }}", "80/cart,443/cart"],
  ["{{ range $k, $v := .labels }}{{ $k }}={{ $v }};{{ end }}", "app=cart;tier=front;"],
  ["{{ range .missing }}x{{ else }}none{{ end }}", "none"],
  [
    "{{ with .nested.deep }}{{ (index .list 1).name }}{{ end }}{{ with .missing }}x{{ else }}{{ .name }}{{ end }}",
    "bcart",
  ],
  ["{{ $x := 1 }}{{ range .ports }}{{ $x = . }}{{ end }}{{ $x }}", "443"],
  ["{{ $x := 1 }}{{ if .yes }}{{ $x := 2 }}{{ end }}{{ $x }}", "1"],
  [
    '{{ template "x" .nested.deep }}{{ define "x" }}[{{ len .list }}]{{ end }}{{ template "x" .nested.deep }}',
    "[2][2]",
  ],
  ["{{ and .yes .name }}{{ or .empty .missing `raw\\n` }}", "cartraw\\n"],
  // Evaluated to the end, the second argument would be an error.
  ['{{ if and .missing (lt .missing 3) }}1{{ end }}{{ if or .yes (required "no" "") }}2{{ end }}', "2"],
  ['{{ .name | printf "%s-%d%%" | quote }}', '"cart-<no value>%"'],
  ['{{ printf "%q %.2f %v %t" .name 1.5 .ports true }}', '"cart" 1.50 [80 443] true'],
  ["{{ toJSON .labels }}{{ .ports | toJson }}", '{"tier":"front","app":"cart"}[80,443]'],
  ['{{ .missing | default "d" }}{{ .name | default "d" | upper }}', "dCART"],
  ["{{ not .empty }}{{ len .ports }}{{ len .name }}{{ gt 2 1 }}{{ ne 1 1 }}", "true24truefalse"],
  ['{{ list 1 2 | join "," }}{{ replace "a" "b" .name }}{{ hasPrefix "ca" .name }}', "1,2cbrttrue"],
  ['{{ nindent 2 "a\\nb" }}{{ add 1 2 3 }}{{ ternary 1 2 .yes }}', "\n  a\n  b61"],
  ['{{ get (dict "a" 1) "a" }}{{ hasKey .labels "app" }}{{ index .nested "deep" "list" 0 "name" }}', "1truea"],
  ['{{ "}}" }}', "}}"],
];

for (const [text, expected] of table) {
  Deno.test(`${JSON.stringify(text)} becomes ${JSON.stringify(expected)}`, () => {
    assert.equal(render(text), expected);
  });
}

const faults: readonly (readonly [string, RegExp])[] = [
  ["a\n{{ .name", /^x\.tmpl:2: an action without end/],
  ["\n\n{{ if .yes }}", /^x\.tmpl:3: if without end/],
  ["{{ end }}", /^x\.tmpl:1: got end without a block/],
  ["{{ if .yes }}{{ else }}", /else without end/],
  ["{{ range .ports }}{{ else if .yes }}{{ end }}", /got else if \.yes, expected else/],
  ["{{ if }}{{ end }}", /got nothing, expected a value/],
  ["{{ .name | }}", /got nothing, expected a value/],
  ["{{ (.name }}", /expected \) after \(/],
  ["{{ .name ) }}", /got \), expected \|/],
  ["{{ # }}", /got "#", expected a value/],
  ["{{ .nowhere }}", /there is no such value to print/],
  ["{{ $x }}", /\$x is not declared/],
  ["{{ $x = 1 }}", /\$x is not declared/],
  ["{{ constructor }}", /there is no function constructor/],
  ["{{ .name 1 }}", /values without a function/],
  ["{{ range .name }}{{ end }}", /range: got cart, expected a list or a map/],
  ['{{ block "x" . }}{{ end }}', /block is not known here/],
  ["{{ define x }}{{ end }}", /define: got x, expected a name in quotes/],
  ['{{ define "x" }}', /define without end/],
  ['{{ template "x" }}', /there is no template "x"/],
  ['{{ define "x" }}{{ template "x" }}{{ end }}{{ template "x" }}', /more than 32 templates call each other/],
  ['{{ define "x" }}{{ $y }}{{ end }}{{ $y := 1 }}{{ template "x" }}', /\$y is not declared/],
  ["{{ upper .ports }}", /upper: got \[80 443\], expected a text/],
  ['{{ required "say who" .missing }}', /required: say who/],
  ['{{ printf "%z" 1 }}', /got %z, expected one of/],
  ["{{ .__proto__.constructor }}", /there is no such value/],
];

for (const [text, expected] of faults) {
  Deno.test(`${JSON.stringify(text)} is refused with its line and reason`, () => {
    assert.throws(() => render(text), { name: "TextTemplateError", message: expected });
  });
}

Deno.test("loops in loops end at a bound instead of filling the memory", () => {
  const many = Array.from({ length: 2000 }, (_, i) => i);
  const text = "{{ range . }}{{ range $ }}xxxxxxxxxx{{ end }}{{ end }}";
  assert.throws(() => renderTemplate(text, "x", many), /more than 16777216 characters/);
});

Deno.test("whatever a template says, it is rendered or refused as a template", () => {
  const pieces = fc.constantFrom(
    ...[
      "{{",
      "}}",
      "{{-",
      "-}}",
      " ",
      "if ",
      "end",
      "else",
      "range ",
      "with ",
      ".name",
      ".ports",
      "$",
      "$x",
      ":=",
      "|",
    ],
    ...["(", ")", '"a"', '"', "`", "/*", "*/", "1", "index ", "printf ", "join ", ",", "x", "\n", "."],
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 25 }), (words) => {
      try {
        render(words.join(""));
      } catch (error) {
        assert(error instanceof TextTemplateError, String(error));
      }
    }),
    { numRuns: runs(2000) },
  );
  assert.throws(() => render(`{{ ${"/* */ ".repeat(5000)}`), TextTemplateError);
  assert.throws(
    () => render("{{ .ports.name }}"),
    /:1: \.ports\.name: got a list, expected something with a field name/,
  );
});
