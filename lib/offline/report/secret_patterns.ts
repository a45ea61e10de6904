/**
 * Credentials in texts whose form alone shows where they are: addresses, command lines, markup, files of programs.
 *
 * @module
 */
import { HIDDEN } from "./hidden.ts";

/** A form, with what stands for its credential. */
type Pattern = readonly [form: RegExp, replacement: string];

const PATTERNS: readonly Pattern[] = [
  // Credentials of a request behind the name of their scheme.
  [/\b(Bearer|Basic|Digest|Negotiate)(?:\s+|%20)[^\s"',;}\]]+/gi, `$1 ${HIDDEN}`],
  // User and password of an address, also with slashes in the password, and encoded.
  [/:\/\/[^\s/"]{1,4000}@/g, `://${HIDDEN}@`],
  [/:\/\/[^\s/"@:]{0,64}:[^\s"'@]{1,200}@(?!sha256:)/g, `://${HIDDEN}@`],
  [/%3A%2F%2F[^\s/"&]{1,400}?%40/gi, `%3A%2F%2F${HIDDEN}%40`],
  // `user:password@host`
  [/(?<![\w.+%-])([\w.+%-]{1,64}):[^\s/@"',;]{1,200}@(?!sha256:)(?=[\w.[-])/g, `${HIDDEN}@`],
  // Oracle: `jdbc:oracle:thin:user/password@host`.
  [/(:(?:thin|oci):)[^\s@"']{1,200}@/gi, `$1${HIDDEN}@`],
  // The flag of curl for a user and a password.
  [/(?<=\s)(-u|--user|--proxy-user|-U)([ =]{1,3})(['"]?)([\w.@+%-]{1,64}):[^\s'"]{1,200}/g, `$1$2$3${HIDDEN}`],
  // `.netrc`
  [/(\blogin \S{1,40} password )\S{1,200}/g, `$1${HIDDEN}`],
  // SQL, and sentences.
  [/\b(password|passphrase|identified by) '[^'\n]{1,200}'/gi, `$1 ${HIDDEN}`],
  [/\b(password|passphrase|identified by) "[^"\n]{1,200}"/gi, `$1 ${HIDDEN}`],
  [/(\b(?:password|passphrase) is )[^\s'"]{1,200}/gi, `$1${HIDDEN}`],
  // Markup: `<password>x</password>`.
  [/(<[\w:.-]{0,40}(?:password|secret|token|key)[\w:.-]{0,40}>)[^<\n]{1,400}/gi, `$1${HIDDEN}`],
  // The private members of a JSON Web Key.
  [/("(?:d|k|p|q|dp|dq|qi)\\{0,3}" ?: ?\\{0,3}")[\w-]{1,2000}/g, `$1${HIDDEN}`],
  // The file of a key of PuTTY.
  [/(\bPrivate-Lines:[^\n]{0,20}\n)[A-Za-z0-9+/=\s]{1,8000}/g, `$1${HIDDEN}`],
];

/** A text without the credentials of such forms. */
export function withoutPatterns(text: string): string {
  return PATTERNS.reduce((rest, [form, replacement]) => rest.replace(form, replacement), text);
}
