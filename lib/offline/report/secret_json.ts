/**
 * JSON without credentials: objects of a cluster, pages of a server, dumps of a proxy.
 *
 * A value is taken out by the name of its field, by the name beside it (`{name, value}` of variables and headers), by the
 * kind of its object, or because its text is a credential. The forms of Envoy's configuration and of objects are those
 * of `FIELDS`.
 *
 * @module
 */
import { parseYaml } from "../../config/yaml/parse.ts";
import { HIDDEN } from "./hidden.ts";
import { isInOpenKey, withoutSecretText } from "./secret_text.ts";

/** Words in a name for a credential, compared without `-`, `_` and case. */
const WORDS: readonly string[] = [
  ...["password", "passwd", "passphrase", "secret", "token", "apikey", "accesskey", "privatekey"],
  ...[
    "cookie",
    "credential",
    "signature",
    "hmac",
    "bearer",
    "pwd",
    "sharedkey",
    "accountkey",
    "sessionkey",
    "ticketkey",
    "jwks",
    "dockerconfig",
    "clientkey",
    "passcode",
    "mnemonic",
    "seedphrase",
    "keyring",
    "bindpw",
    "connectionstring",
    "sessionid",
    "signingkey",
    "encryptionkey",
    "masterkey",
    "rootkey",
    "authkey",
    "licensekey",
  ],
];

/** Fields with such a word whose value names something, or describes it. */
const HARMLESS: ReadonlySet<string> = new Set([
  ...[
    "secretname",
    "credentialname",
    "secretref",
    "secretkeyref",
    "imagepullsecret",
    "imagepullsecrets",
    "secrets",
    "tokenaudience",
  ],
  ...["serviceaccounttoken", "automountserviceaccounttoken", "jwksuri", "tokenendpoint", "cookies", "allowcredentials"],
  ...["httpcookie", "credentials", "forwardoriginaltoken", "resourceversion", "secretstats", "unsentcredentials"],
  ...["tlscertificatesdssecretconfigs", "validationcontextsdssecretconfig", "sdssecretconfigs", "sdsconfig"],
  ...["combinedvalidationcontext", "tokenreviews", "secretkind", "tokenbucket", "maxtokens", "tokensperfill"],
]);

/** Fields whose text is taken out wherever it stands, because it may be anything, a key among others. */
const FIELDS: ReadonlySet<string> = new Set([
  ...["authorization", "proxyauthorization"],
  ...["inlinestring", "inlinebytes", "inlinecode", "inlinevalue", "pluginconfig", "stringdata", "binarydata"],
  ...["localjwks", "jwks", "keymaterial", "k", "d", "sessionticketkeys", "genericsecret", "privatekeyprovider", "pass"],
  // Of direct responses.
  ...["body"],
]);

/** Annotations with whole objects in them. */
const COPIES: ReadonlySet<string> = new Set(["kubectl.kubernetes.io/last-applied-configuration"]);

/** Annotations in YAML, with variables of proxies in them. */
const YAML_TEXTS: ReadonlySet<string> = new Set(["proxy.mesh.io/config", "proxy.istio.io/config"]);

/** Kinds whose data is taken out. */
const SECRET_KINDS: ReadonlySet<string> = new Set(["Secret", "ConfigMap"]);

/** Lists of such objects, whose kinds the objects of a list do not repeat. */
const SECRET_LISTS: ReadonlySet<string> = new Set(["SecretList", "ConfigMapList"]);

/** Fields with parameters of queries, and the names of parameters for a credential beside the words. */
const QUERY_FIELDS: ReadonlySet<string> = new Set(["queryparams", "queryparameters"]);
const QUERY_NAMES: ReadonlySet<string> = new Set(["key", "auth", "sig", "code", "pw", "pass", "jwt", "assertion"]);

/** Deepest JSON that is read; deeper parts are taken out. */
const MAX_DEPTH = 200;

/** Names of variables whose values may be shown: the settings of the programs. */
export type KnownVariables = ReadonlySet<string>;

/** JSON without credentials. The given value stays as it is. */
export function withoutSecretJson(value: unknown, known: KnownVariables): unknown {
  return cleaned(value, known, 0);
}

function cleaned(value: unknown, known: KnownVariables, depth: number): unknown {
  if (typeof value === "string") return cleanedText(value, known, depth);
  if (typeof value !== "object" || value === null) return value;
  if (depth > MAX_DEPTH) return HIDDEN;
  if (Array.isArray(value)) return cleanedList(value, known, depth);
  const fields = value as Readonly<Record<string, unknown>>;
  const isSecretObject = typeof fields["kind"] === "string" && SECRET_KINDS.has(fields["kind"]);
  const isOfSecret = isNamedSecret(fields) || isEncodedMessage(fields);
  return Object.fromEntries(
    Object.entries(fields).map(([name, one]) => {
      if (isSecretObject && (name === "data" || name === "stringData" || name === "binaryData")) {
        return [name, hidden(one)];
      }
      if (isOfSecret && isValueField(name)) return [name, hidden(one)];
      if (name === "env" && Array.isArray(one)) return [name, one.map((entry) => variable(entry, known, depth + 1))];
      if (VARIABLE_MAPS.has(plainName(name))) return [name, variables(one, known)];
      if (name === "items" && isSecretList(fields)) return [name, hidden(one)];
      if (QUERY_FIELDS.has(plainName(name))) return [name, queryParameters(one, known, depth + 1)];
      if (YAML_TEXTS.has(name) && typeof one === "string") return [name, cleanedYaml(one, known, depth + 1)];
      return [name, isSecretField(name) ? hidden(one) : cleaned(one, known, depth + 1)];
    }),
  );
}

/** A text, which may be JSON: tools keep whole objects in annotations. */
function cleanedText(text: string, known: KnownVariables, depth: number): string {
  const read = /^\s*[{[]/.test(text) ? jsonOf(text) : undefined;
  if (typeof read !== "object" || read === null) return withoutSecretText(text);
  return depth > MAX_DEPTH ? HIDDEN : withoutSecretText(JSON.stringify(cleaned(read, known, depth + 1)));
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** A text in YAML, as JSON. */
function cleanedYaml(text: string, known: KnownVariables, depth: number): string {
  const read = parseYaml(text);
  return "tree" in read ? JSON.stringify(cleaned(read.tree, known, depth)) : HIDDEN;
}

/** A list. The lines of a private key may be its entries. */
function cleanedList(list: readonly unknown[], known: KnownVariables, depth: number): unknown[] {
  let isInKey = false;
  return list.map((one, at) => {
    const wasInKey = isInKey;
    if (typeof one === "string") isInKey = isInOpenKey(one, wasInKey);
    if (wasInKey && typeof one === "string") return HIDDEN;
    return isOfFlag(list[at - 1], one) || isOfPair(list, at) ? HIDDEN : cleaned(one, known, depth + 1);
  });
}

/** `["--password", "x"]` and `["--user", "name:x"]` */
function isOfFlag(flag: unknown, value: unknown): boolean {
  if (typeof flag !== "string" || typeof value !== "string" || !/^--?[a-z]/i.test(flag)) return false;
  if (/^(?:-u|-U|--user|--proxy-user)$/.test(flag)) return value.includes(":");
  return !/[\s=]/.test(flag) && isSecretWord(flag.replace(/^--?/, "")) && !value.startsWith("--");
}

/** `["x-api-key", "x"]`, as headers are in some dumps. */
function isOfPair(list: readonly unknown[], at: number): boolean {
  const [name] = list;
  return at === 1 && list.length === 2 && typeof name === "string" && typeof list[1] === "string" && isSecretWord(name);
}

/** A message of a type that nobody has read: its bytes may hold anything. */
function isEncodedMessage(fields: Readonly<Record<string, unknown>>): boolean {
  const type = fields["type_url"] ?? fields["typeUrl"];
  return typeof type === "string" && typeof fields["value"] === "string";
}

function isSecretList({ kind }: Readonly<Record<string, unknown>>): boolean {
  return typeof kind === "string" && SECRET_LISTS.has(kind);
}

/** `{key: {exact: "x"}}` and `[{name: "key", value: "x"}]` */
function queryParameters(value: unknown, known: KnownVariables, depth: number): unknown {
  const isSecret = (name: unknown) => typeof name === "string" && QUERY_NAMES.has(plainName(name));
  if (Array.isArray(value)) {
    return value.map((one) => {
      const clean = cleaned(one, known, depth);
      if (typeof clean !== "object" || clean === null || !("name" in clean) || !isSecret(clean.name)) return clean;
      return { ...hidden(clean) as object, name: clean.name };
    });
  }
  const clean = cleaned(value, known, depth);
  if (typeof clean !== "object" || clean === null) return clean;
  return Object.fromEntries(Object.entries(clean).map(([name, one]) => [name, isSecret(name) ? hidden(one) : one]));
}

/** `{name: "API_TOKEN", value: "x"}` and `{key: "authorization", value: "x"}`. */
function isNamedSecret({ name, key, header }: Readonly<Record<string, unknown>>): boolean {
  return [name, key, header].some((one) => typeof one === "string" && isSecretWord(entryOf(one)));
}

/** `x-api-key` of `request.headers[x-api-key]`. */
function entryOf(name: string): string {
  return name.endsWith("]") ? name.slice(name.indexOf("[") + 1, -1) : name;
}

const VALUE_FIELDS: ReadonlySet<string> = new Set([
  ...["value", "rawvalue", "values", "notvalues", "exact", "prefix", "suffix", "contains", "regex", "saferegex"],
  ...["stringmatch", "exactmatch", "prefixmatch", "suffixmatch", "containsmatch", "saferegexmatch"],
]);

function isValueField(name: string): boolean {
  return VALUE_FIELDS.has(plainName(name));
}

/** Maps of variables. */
const VARIABLE_MAPS: ReadonlySet<string> = new Set(["proxymetadata", "environment", "environmentvariables"]);

function variables(map: unknown, known: KnownVariables): unknown {
  if (typeof map !== "object" || map === null || Array.isArray(map)) return hidden(map);
  return Object.fromEntries(Object.entries(map).map(([name, value]) => [name, shownVariable(name, value, known)]));
}

/** The value of a variable that is no setting is taken out. Where the value comes from stays. */
function variable(entry: unknown, known: KnownVariables, depth: number): unknown {
  if (typeof entry !== "object" || entry === null || !("value" in entry)) return cleaned(entry, known, depth);
  const name = "name" in entry ? String(entry.name) : "";
  return { ...cleaned(entry, known, depth) as object, value: shownVariable(name, entry.value, known) };
}

/** The value of a variable in a list of variables, such as those of a process. */
export function shownVariable(name: string, value: unknown, known: KnownVariables): unknown {
  return known.has(name) && !isSecretWord(name) && typeof value === "string" ? withoutSecretText(value) : hidden(value);
}

function isSecretField(name: string): boolean {
  const plain = plainName(name);
  return COPIES.has(name) || FIELDS.has(plain) || isSecretWord(name);
}

/** Short names of credentials. */
const SHORT: ReadonlySet<string> = new Set(["dsn", "psk", "pwd"]);

function isSecretWord(name: string): boolean {
  const plain = plainName(name);
  // Headers such as `x-shop-key` and `x-shop-auth`.
  const isOfHeader = /[-_](?:key|dsn|psk|pw)$/i.test(name) || plain.endsWith("auth") || SHORT.has(plain);
  return !HARMLESS.has(plain) &&
    (isOfHeader || /[-_]pass$/i.test(name) || FIELDS.has(plain) && plain.length > 1 ||
      WORDS.some((word) => plain.includes(word)));
}

function plainName(name: string): string {
  return name.replaceAll(/[-_.]/g, "").toLowerCase();
}

/** What stands for a value: names of fields stay, so that a reader sees what was there. */
function hidden(value: unknown): unknown {
  if (value === null || typeof value === "boolean") return value;
  if (Array.isArray(value)) return value.map(hidden);
  if (typeof value !== "object") return value === "" ? "" : HIDDEN;
  return Object.fromEntries(Object.entries(value as object).map(([name, one]) => [name, hidden(one)]));
}

/** A text as JSON without credentials, or else the text without them. */
export function withoutSecrets(text: string, known: KnownVariables): string {
  try {
    return `${JSON.stringify(withoutSecretJson(JSON.parse(text), known), undefined, 1)}\n`;
  } catch {
    return withoutSecretText(text);
  }
}
